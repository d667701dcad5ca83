//! What servers say beside the protocol, on stderr for those who asked (`-vv`).
