use url::Url;

use crate::oauth::address::{endpoint, metadata};

fn allowed(text: &str, resource: &str) -> bool {
    endpoint(text, &Url::parse(resource).unwrap()).is_some()
}

/// T5
#[test]
fn a_public_server_sends_nobody_into_the_network() {
    let resource = "https://mcp.example.com/mcp";
    assert!(allowed("https://as.example.com/token?x=1", resource));
    for refused in [
        "http://as.example.com/token",
        "http://127.0.0.1/token",
        "https://127.0.0.1/token",
        "https://localhost/token",
        "https://x.localhost./token",
        "https://169.254.169.254/latest",
        "https://10.0.0.1/",
        "https://192.168.1.1/",
        "https://100.64.0.1/",
        "https://0.0.0.0/",
        "https://[::1]/",
        "https://[fe80::1]/",
        "https://[fd00::1]/",
        "https://[::ffff:169.254.169.254]/",
        "https://[64:ff9b::a9fe:a9fe]/",
        "https://2852039166/",
        "https://user@as.example.com/",
        "https://as.example.com/#fragment",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "not an address",
    ] {
        assert!(!allowed(refused, resource), "{refused}");
    }
}

#[test]
fn a_local_server_may_name_local_addresses() {
    let resource = "http://localhost:8080/mcp";
    assert!(allowed("http://127.0.0.1:9000/token", resource));
    assert!(allowed("https://10.0.0.1/token", resource));
    assert!(!allowed("http://as.example.com/token", resource));
}

#[test]
fn a_private_server_may_name_private_addresses() {
    let resource = "https://10.0.0.5/mcp";
    assert!(allowed("https://10.0.0.6/token", resource));
    assert!(!allowed("https://127.0.0.1/token", resource));
}

#[test]
fn metadata_may_stand_where_the_server_does() {
    let resource = Url::parse("http://intranet/mcp").unwrap();
    assert!(metadata("http://intranet/metadata", &resource).is_some());
    assert!(metadata("http://elsewhere/metadata", &resource).is_none());
}
