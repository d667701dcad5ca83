use super::export::{is_wanted, names_service, other_protocol};

fn of<'a>(variables: &'a [(&str, &str)]) -> impl Fn(&str) -> Option<String> + 'a {
    |name| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    }
}

const AT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");

/// Nothing is exported unless a collector is named, or if the standard's switches say so.
#[test]
fn export_is_off_unless_a_collector_is_named() {
    assert!(!is_wanted(of(&[])));
    assert!(!is_wanted(of(&[("OTEL_SERVICE_NAME", "x"), (AT.0, " ")])));
    assert!(is_wanted(of(&[AT])));
    assert!(is_wanted(of(&[(
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        AT.1
    )])));
    assert!(!is_wanted(of(&[AT, ("OTEL_SDK_DISABLED", "True")])));
    assert!(!is_wanted(of(&[AT, ("OTEL_TRACES_EXPORTER", "none")])));
}

/// A protocol that there is not is named, the more special variable first.
#[test]
fn other_protocols_are_refused() {
    let (special, general) = (
        "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
        "OTEL_EXPORTER_OTLP_PROTOCOL",
    );
    assert_eq!(other_protocol(of(&[])), None);
    assert_eq!(other_protocol(of(&[(general, "http/protobuf")])), None);
    assert_eq!(other_protocol(of(&[(general, "grpc")])), Some(general));
    let both = [(special, "http/protobuf"), (general, "grpc")];
    assert_eq!(other_protocol(of(&both)), None);
    assert_eq!(other_protocol(of(&[(special, "http/json")])), Some(special));
}

/// The service is `seawall` unless the environment has another name for it.
#[test]
fn service_may_have_a_name() {
    assert!(!names_service(of(&[])));
    assert!(names_service(of(&[("OTEL_SERVICE_NAME", "x")])));
    let attributes = [("OTEL_RESOURCE_ATTRIBUTES", "a=b, service.name=x")];
    assert!(names_service(of(&attributes)));
    assert!(!names_service(of(&[(
        "OTEL_RESOURCE_ATTRIBUTES",
        "a=service.name"
    )])));
}
