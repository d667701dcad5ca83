//! What a model receives.

use super::super::{ImageKind, MAX_SHOWN_BYTES, MAX_SHOWN_CHARS, PayloadKind};
use super::*;

fn only(read: &ModelResult) -> &ModelBlock {
    match read.blocks() {
        [block] => block,
        other => panic!("{other:?}"),
    }
}

/// N1: text as is: of text blocks and of embedded resources, whatever it holds.
#[test]
fn text_is_shown_as_it_is() {
    let place = Place::new();
    let read = place.read(&content(
        r#"{"type":"text","text":"a\u0000\u202e\n é"},{"type":"resource","resource":{"uri":"x:y","text":"inside"}},
           {"type":"text","text":"\ud800"}"#,
    ));
    let texts: Vec<_> = read
        .blocks()
        .iter()
        .map(|block| match block {
            ModelBlock::Text(text) => text.as_str(),
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(texts, ["a\0\u{202e}\n é", "inside", "\u{fffd}"]);
    assert_eq!(read.outcome(), ModelOutcome::Succeeded);
}

/// N1: png, jpeg, gif and webp images as is, in base64 without the white space that it was wrapped with.
#[test]
fn images_that_models_take_are_shown_as_they_are() {
    let place = Place::new();
    for (bytes, declared, kind) in [
        (&b"\x89PNG\r\n\x1a\nrest"[..], "image/png", ImageKind::Png),
        (b"\xff\xd8\xff\xe0rest", "IMAGE/JPEG", ImageKind::Jpeg),
        (b"\xff\xd8\xff\xe0rest", "image/jpg", ImageKind::Jpeg),
        (b"GIF87arest", "image/gif", ImageKind::Gif),
        (b"GIF89arest", "image/gif", ImageKind::Gif),
        (b"RIFF\0\0\0\0WEBPrest", "image/webp", ImageKind::Webp),
    ] {
        let plain = base64(bytes);
        let wrapped = format!(r"{}\r\n {}\n", &plain[..5], &plain[5..]);
        let block = format!(r#"{{"type":"image","data":"{wrapped}","mimeType":"{declared}"}}"#);
        let read = place.read(&content(&block));
        let ModelBlock::Image(image) = only(&read) else {
            panic!("{}", read.to_text());
        };
        assert_eq!(
            (image.kind(), image.base64(), image.decode()),
            (kind, plain.as_str(), bytes.to_vec())
        );
    }
    assert!(place.names().is_empty());
}

/// N1: up to 5 MB decoded, inclusive; a larger image is saved.
#[test]
fn image_is_shown_up_to_five_megabytes() {
    let place = Place::new();
    let at = place.read(&content(&payload(
        "image",
        &png(MAX_SHOWN_BYTES),
        "image/png",
    )));
    assert!(matches!(only(&at), ModelBlock::Image(_)));
    let over = png(MAX_SHOWN_BYTES + 1);
    let read = place.read(&content(&payload("image", &over, "image/png")));
    assert_eq!(place.file(only(&read)), over);
    assert_eq!(read.outcome(), ModelOutcome::Succeeded);
}

/// N1: audio, blobs and other images are saved under `tool-results/`, under unique names, with a stub naming the file. An
/// image whose bytes are not what was declared counts as another image.
#[test]
fn other_payloads_are_saved_with_a_stub() {
    let place = Place::new();
    let blob = |bytes: &[u8]| {
        let data = base64(bytes);
        format!(r#"{{"type":"resource","resource":{{"uri":"x:y","blob":"{data}"}}}}"#)
    };
    let (png, svg): (_, &[u8]) = (png(20), b"<svg/>");
    let untyped = format!(r#"{{"type":"image","data":"{}"}}"#, base64(&png));
    for (block, bytes, kind, declared, ending) in [
        (
            payload("audio", b"RIFF", "audio/wav"),
            &b"RIFF"[..],
            PayloadKind::Audio,
            "audio/wav",
            ".wav",
        ),
        (
            payload("audio", b"", "x"),
            b"",
            PayloadKind::Audio,
            "x",
            ".bin",
        ),
        (
            payload("image", svg, "image/svg+xml"),
            svg,
            PayloadKind::Image,
            "image/svg+xml",
            ".bin",
        ),
        (
            payload("image", svg, "image/png"),
            svg,
            PayloadKind::Image,
            "image/png",
            ".bin",
        ),
        (
            payload("image", &png, "image/jpeg"),
            &png,
            PayloadKind::Image,
            "image/jpeg",
            ".png",
        ),
        (
            untyped,
            &png,
            PayloadKind::Image,
            "application/octet-stream",
            ".png",
        ),
        (
            blob(&png),
            &png,
            PayloadKind::Blob,
            "application/octet-stream",
            ".png",
        ),
    ] {
        let read = place.read(&content(&format!("{block},{block}")));
        let [first, second] = read.blocks() else {
            panic!("{}", read.to_text());
        };
        assert_eq!(
            (place.file(first), place.file(second)),
            (bytes.to_vec(), bytes.to_vec())
        );
        let (ModelBlock::Saved { stub, path }, ModelBlock::Saved { path: other, .. }) =
            (first, second)
        else {
            panic!("{}", read.to_text());
        };
        assert_ne!(path, other);
        assert_eq!(
            (stub.kind(), stub.media_type(), stub.bytes()),
            (kind, declared, bytes.len() as u64)
        );
        assert!(path.as_str().starts_with("tool-results/"));
        assert!(path.as_str().ends_with(ending), "{path}");
        assert!(first.to_string().contains(path.as_str()));
        assert_eq!(read.outcome(), ModelOutcome::Succeeded);
    }
}

/// N1: a stub is bounded, on one line, and nothing is hidden in it or can end its quotation marks; none of it decides the
/// path.
#[test]
fn stub_is_bounded_and_its_remote_text_harmless() {
    let place = Place::new();
    let read = place.read(&content(&format!(
        r#"{{"type":"resource","resource":{{"uri":"../\"]\n\u202e\udb40\udc41{}","mimeType":"../../{}","blob":"AAAA"}}}}"#,
        "u".repeat(5_000),
        "\\u200b".repeat(5_000),
    )));
    let ModelBlock::Saved { stub, path } = only(&read) else {
        panic!("{}", read.to_text());
    };
    assert!(
        stub.uri()
            .unwrap()
            .starts_with(r#"../"]\u{a}\u{202e}\u{e0041}uu"#)
    );
    assert_eq!(stub.uri().unwrap().chars().count(), MAX_SHOWN_CHARS);
    assert!(stub.media_type().starts_with(r"../../\u{200b}"));
    assert!(stub.media_type().chars().count() <= 255);
    let shown = read.to_text();
    assert!(shown.chars().count() < MAX_SHOWN_CHARS + 255 + 200);
    assert!(!shown.contains(['\n', '\u{202e}', '\u{200b}', '\u{e0041}']));
    assert_eq!(shown.matches('"').count(), 4, "{shown}");
    let name = path.as_str().strip_prefix("tool-results/").unwrap();
    assert_eq!(place.names(), [name]);
    assert!(
        name.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'.')
    );
}

/// N1: a `resource_link` is shown as a link, its name and URI bounded to 2 048 code points, never fetched.
#[test]
fn link_is_shown_bounded_and_never_fetched() {
    let place = Place::new();
    let link = |name: &str, uri: &str| {
        let block = format!(r#"{{"type":"resource_link","name":"{name}","uri":"{uri}"}}"#);
        let read = place.read(&content(&block));
        let ModelBlock::Link(link) = only(&read) else {
            panic!("{}", read.to_text());
        };
        link.clone()
    };
    // Nobody listens on either; whoever fetched it would fail or wait.
    let plain = link("a", "http://127.0.0.1:9/x");
    assert_eq!((plain.name(), plain.uri()), ("a", "http://127.0.0.1:9/x"));
    let whole = "é".repeat(MAX_SHOWN_CHARS);
    let at = link(&whole, &whole);
    assert_eq!((at.name(), at.uri()), (whole.as_str(), whole.as_str()));
    let cut = "é".repeat(MAX_SHOWN_CHARS - 1) + "…";
    for longer in [MAX_SHOWN_CHARS + 1, 5_000] {
        let over = link(&"é".repeat(longer), &"é".repeat(longer));
        assert_eq!((over.name(), over.uri()), (cut.as_str(), cut.as_str()));
    }
    let hidden = link(&"\\u202e".repeat(5_000), "x:\\u0007");
    assert_eq!(hidden.uri(), "x:\\u{7}");
    assert!(hidden.name().ends_with("}…") && hidden.name().chars().count() <= MAX_SHOWN_CHARS);
    assert!(place.names().is_empty());
}

/// N1: `structuredContent` is shown as JSON when there is no text, by presence; not beside a text of the server's.
#[test]
fn structured_content_is_shown_when_there_is_no_text() {
    let place = Place::new();
    for value in ["null", "0", r#"{ "a":1.50 }"#] {
        for blocks in [
            "",
            r#"{"type":"text","text":" \n"}"#,
            r#"{"type":"text"}"#,
            r#"{"type":"resource","resource":{"uri":"x:y","text":"embedded"}}"#,
        ] {
            let read = place.read(&result(&format!(
                r#"{{"content":[{blocks}],"structuredContent":{value}}}"#
            )));
            let last = read.blocks().last().unwrap();
            assert!(matches!(last, ModelBlock::Structured(json) if json.as_str() == value));
            assert_eq!(last.to_string(), value);
        }
        let with_text =
            format!(r#"{{"content":[{{"type":"text","text":"x"}}],"structuredContent":{value}}}"#);
        assert_eq!(place.read(&result(&with_text)).to_text(), "x");
    }
    let alone = place.read(&result(r#"{"structuredContent":[1]}"#));
    assert_eq!(alone.to_text(), "[1]");
    assert!(place.read(&content("")).blocks().is_empty());
}

/// N1: an unknown block is shown as bounded JSON.
#[test]
fn unknown_block_is_shown_as_bounded_json() {
    let place = Place::new();
    let read = place.read(&content("{\"type\":\"video\",\n\"x\":\"\u{202e}\"}"));
    let ModelBlock::Unknown(json) = only(&read) else {
        panic!("{}", read.to_text());
    };
    assert_eq!(json, r#"{"type":"video", "x":"\u{202e}"}"#);
    let long = format!(r#"{{"type":"video","x":"{}"}}"#, "y".repeat(100_000));
    let read = place.read(&content(&long));
    let ModelBlock::Unknown(json) = only(&read) else {
        panic!("{}", read.to_text());
    };
    assert_eq!(json.chars().count(), MAX_SHOWN_CHARS);
    assert!(json.ends_with("y…"));
}

/// N1: a malformed block is a stub saying so; many of them in a row are one stub.
#[test]
fn malformed_block_is_a_stub_that_says_so() {
    let place = Place::new();
    for block in [
        "1",
        "null",
        "\"text\"",
        "[{\"type\":\"text\",\"text\":\"x\"}]",
        "{}",
        r#"{"text":"x"}"#,
        r#"{"type":1,"text":"x"}"#,
        r#"{"type":"text"}"#,
        r#"{"type":"text","text":1}"#,
        r#"{"type":"text","text":"x","type":"image"}"#,
        r#"{"type":"image","mimeType":"image/png"}"#,
        r#"{"type":"image","data":"AAAA","mimeType":1}"#,
        r#"{"type":"audio","data":["AAAA"],"mimeType":"audio/wav"}"#,
        r#"{"type":"resource"}"#,
        r#"{"type":"resource","resource":"x:y"}"#,
        r#"{"type":"resource","resource":{"uri":"x:y"}}"#,
        r#"{"type":"resource","resource":{"uri":"x:y","text":1}}"#,
        r#"{"type":"resource","resource":{"uri":"x:y","text":"a","blob":1}}"#,
        r#"{"type":"resource_link","name":"x"}"#,
        r#"{"type":"resource_link","uri":"x:y"}"#,
    ] {
        let text = format!(r#"{{"type":"text","text":"before"}},{block}"#);
        let read = place.read(&content(&text));
        assert_eq!(
            read.to_text(),
            "before\n[malformed block at index 1]",
            "{block}"
        );
    }
    let many = vec!["1"; 10_000].join(",");
    assert_eq!(
        place.read(&content(&many)).to_text(),
        "[10000 malformed blocks from index 0 on]"
    );
    assert!(place.names().is_empty());
}

/// MCP Live, RFC-005 vectors 1 and 2: what is inline and says how to treat it as a reference is shown to no model, and no more is
/// the URI of a reference.
#[test]
fn what_a_server_withholds_from_a_model_is_not_shown() {
    let place = Place::new();
    for block in [
        r#"{"type":"image","data":"U0VD","mimeType":"image/png","disposition":"never"}"#,
        r#"{"type":"audio","data":"U0VD","mimeType":"audio/wav","disposition":"ref"}"#,
        r#"{"type":"resource","uri":"https://home.example/x?sig=1","disposition":"never"}"#,
    ] {
        let read = place.read(&content(block));
        assert_eq!(read.to_text(), "[malformed block at index 0]", "{block}");
    }
    assert!(place.names().is_empty());
}

/// N1: base64 that is none makes a block malformed: another alphabet, padding missing or in the middle, stray bits, garbage.
#[test]
fn payload_that_is_no_base64_is_malformed() {
    let place = Place::new();
    for data in [
        "AAA",
        "AA",
        "A",
        "AA=",
        "AA==AA==",
        "AB==",
        "AAA_",
        "AA-A",
        "AA!A",
        "AAAA=",
        "====",
        "=",
        "data:image/png;base64,AAAA",
        "AAé",
        r"AA\u0000A",
        r"AA\ud800A",
        r"AA\u00a0A",
    ] {
        for block in [
            format!(r#"{{"type":"audio","data":"{data}"}}"#),
            format!(r#"{{"type":"resource","resource":{{"blob":"{data}"}}}}"#),
        ] {
            let read = place.read(&content(&block));
            assert_eq!(read.to_text(), "[malformed block at index 0]", "{block}");
        }
    }
    assert!(place.names().is_empty());
}

/// N1: an embedded resource with both a text and a blob loses neither.
#[test]
fn embedded_text_and_blob_are_both_kept() {
    let place = Place::new();
    let read = place.read(&content(
        r#"{"type":"resource","resource":{"uri":null,"text":"t","blob":"AAAA"}}"#,
    ));
    let [ModelBlock::Text(text), saved] = read.blocks() else {
        panic!("{}", read.to_text());
    };
    assert_eq!((text.as_str(), place.file(saved)), ("t", vec![0, 0, 0]));
}

/// N1: in a failed result an image becomes a stub, and its bytes a file.
#[test]
fn image_of_a_failed_tool_becomes_a_stub() {
    let place = Place::new();
    let image = payload("image", &png(30), "image/png");
    let read = place.read(&result(&format!(
        r#"{{"content":[{{"type":"text","text":"no"}},{image}],"isError":true}}"#
    )));
    let [ModelBlock::Text(_), saved] = read.blocks() else {
        panic!("{}", read.to_text());
    };
    assert_eq!(place.file(saved), png(30));
    assert_eq!(read.outcome(), ModelOutcome::ToolFailed);
}

/// N1: a payload that cannot be saved makes the result incomplete, in words that say that the tool may already have
/// completed; what could be saved is, and images become stubs.
#[test]
fn payload_that_cannot_be_saved_makes_the_result_incomplete() {
    let place = Place::with_quota(Quota::new(100, 10));
    let blocks = [
        payload("image", &png(30), "image/png"),
        payload("audio", &[1; 20], "audio/wav"),
        payload("audio", &[1; 90], "audio/wav"),
    ]
    .join(",");
    for (is_error, end) in [
        (false, "the tool may already have completed"),
        (true, "the tool reported a failure, but may have acted"),
    ] {
        let read = place.read(&result(&format!(
            r#"{{"content":[{blocks}],"isError":{is_error},"structuredContent":1}}"#
        )));
        let ModelOutcome::Incomplete(incomplete) = read.outcome() else {
            panic!("{}", read.to_text());
        };
        assert_eq!(
            incomplete.reason(),
            WorkspaceError::TooManyBytes { max_bytes: 100 }
        );
        assert_eq!(incomplete.tool_failed(), is_error);
        assert!(incomplete.to_string().contains(end), "{incomplete}");
        assert!(read.to_text().starts_with(&incomplete.to_string()));
        let [image, small, large, _] = read.blocks() else {
            panic!("{}", read.to_text());
        };
        assert!(matches!(large, ModelBlock::Unsaved { stub, .. } if stub.bytes() == 90));
        if !is_error {
            assert_eq!(incomplete.unsaved(), 1);
            assert_eq!(
                (place.file(image), place.file(small)),
                (png(30), vec![1; 20])
            );
        }
    }
}

/// N1: what is larger than the workspace is not even decoded; an image that is shown needs no room in it.
#[test]
fn payload_larger_than_the_workspace_is_not_decoded() {
    let place = Place::with_quota(Quota::new(0, 0));
    let shown = place.read(&content(&payload("image", &png(30), "image/png")));
    assert_eq!(shown.outcome(), ModelOutcome::Succeeded);
    // That it is no base64 shows only when it is decoded.
    let data = "!".repeat(MAX_SHOWN_BYTES / 3 * 4 + 8);
    let read = place.read(&content(&format!(r#"{{"type":"audio","data":"{data}"}}"#)));
    assert!(matches!(read.outcome(), ModelOutcome::Incomplete(_)));
    assert!(place.names().is_empty());
}

/// N1: after some saves of a result failed the rest is not tried; each is told.
#[test]
fn many_payloads_that_cannot_be_saved_cost_little() {
    let place = Place::with_quota(Quota::new(1_000, 3));
    let blocks = vec![payload("audio", b"x", "audio/wav"); 5_000].join(",");
    let read = place.read(&content(&blocks));
    let ModelOutcome::Incomplete(incomplete) = read.outcome() else {
        panic!("incomplete");
    };
    assert_eq!((incomplete.unsaved(), place.names().len()), (4_997, 3));
    assert_eq!(
        incomplete.reason(),
        WorkspaceError::TooManyFiles { max_files: 3 }
    );
}
