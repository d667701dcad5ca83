use super::names_package;

#[test]
fn a_named_package_is_seen_before_the_border_only() {
    let names = |text: &str| names_package(&text.split(' ').map(str::to_owned).collect::<Vec<_>>());
    assert!(names("-p seawall") && names("-pseawall") && names("--locked --package=seawall"));
    assert!(!names("--locked") && !names("name -- -p") && !names("--profile x"));
}
