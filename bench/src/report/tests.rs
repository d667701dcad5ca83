use super::*;

#[test]
fn half_replaces_its_own_part_and_leaves_the_other_one() {
    let page = "a\n<!-- bench, stdio: begin; written by the bench, edits are lost -->\nold\n<!-- bench: end -->\nb\n\
                <!-- bench, http: begin; written by the bench, edits are lost -->\nold too\n<!-- bench: end -->\nc\n";
    let placed = placed(page, "http", "new").expect("both markers");
    assert_eq!(placed, page.replace("old too\n", "\nnew\n"));
    assert!(super::placed("nothing", "http", "new").is_err());
}
