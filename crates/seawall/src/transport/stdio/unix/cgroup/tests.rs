use std::path::PathBuf;

use super::own;

const MOUNTS: &str = "22 1 0:20 / /proc rw,nosuid - proc proc rw\n\
    30 23 0:27 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

/// T1: the host's own group is found by what the kernel says of both tables, and only where all of it is plain.
#[test]
fn own_group_is_found() {
    let path = |groups| own(groups, MOUNTS);
    let found = path("9:name=systemd:/\n0::/user.slice/a b.scope\n");
    let expected = PathBuf::from("/sys/fs/cgroup/unified/user.slice/a b.scope");
    assert_eq!(found, Some(expected));
    assert_eq!(path("0::/\n"), Some("/sys/fs/cgroup/unified/".into()));
    assert_eq!(path("1:cpu:/x\n"), None);
    assert_eq!(path("0::/../x\n"), None);
    assert_eq!(
        own("0::/\n", &MOUNTS.replace("cgroup2 c", "cgroup c")),
        None
    );
    assert_eq!(own("0::/\n", &MOUNTS.replace("0:27 / ", "0:27 /x ")), None);
    assert_eq!(
        own("0::/\n", &MOUNTS.replace("unified", "uni\\040fied")),
        None
    );
    assert_eq!(own("", ""), None);
}
