use super::*;

const CALL: &str = "POST /mcp HTTP/1.1\r\nContent-Length: 47\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/call\"}";

fn answered(input: &str) -> String {
    let request = Request::parse(input.as_bytes()).expect("whole");
    assert_eq!(request.bytes, input.len());
    let mut output = Vec::new();
    answer(&request, &result(3), &mut output);
    String::from_utf8(output).expect("text")
}

#[test]
fn call_is_answered_with_its_id_and_the_length_of_its_body() {
    let call = CALL.replace(
        "47",
        &(CALL.len() - CALL.find('{').expect("a body")).to_string(),
    );
    let answer = answered(&call);
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    assert_eq!(
        body,
        r#"{"jsonrpc":"2.0","id":"a","result":{"resultType":"complete","content":[{"type":"text","text":"xxx"}]}}"#
    );
    assert!(head.ends_with(&format!("content-length: {}", body.len())));
}

#[test]
fn request_waits_for_its_whole_body() {
    let half = "POST /mcp HTTP/1.1\r\ncontent-length: 10\r\n\r\n{}";
    assert!(Request::parse(half.as_bytes()).is_none());
    assert!(Request::parse(b"POST /mcp HT").is_none());
}

#[test]
fn stream_is_refused_and_notification_is_accepted() {
    assert!(answered("GET /mcp HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405"));
    let notification = "POST /mcp HTTP/1.1\r\ncontent-length: 38\r\n\r\n{\"method\":\"notifications/initialized\"}";
    assert!(answered(notification).starts_with("HTTP/1.1 202"));
}
