//! The bounds on what a server may ask a person. What is past one is refused whole, never cut: a person must see all of
//! what is asked, or none of it.

/// Fields of one form.
pub const MAX_FIELDS: usize = 64;
/// Options of one field.
pub const MAX_OPTIONS: usize = 256;
/// UTF-8 bytes of the message of a form or of a page.
pub const MAX_MESSAGE_BYTES: usize = 16_384;
/// UTF-8 bytes of a field's name.
pub const MAX_NAME_BYTES: usize = 256;
/// UTF-8 bytes of a field's title, of an option's title and of an option's value.
pub const MAX_LABEL_BYTES: usize = 1_024;
/// UTF-8 bytes of a field's description.
pub const MAX_DESCRIPTION_BYTES: usize = 8_192;
/// Bytes of a field's default as JSON.
pub const MAX_DEFAULT_BYTES: usize = 8_192;
/// UTF-8 bytes of a field's pattern.
pub const MAX_PATTERN_BYTES: usize = 1_024;
/// Patterns of one form that are checked here. Those past this bound, or past the next, are left to the server: to make
/// one ready is the only thing in a form that costs much, and a server may ask for many forms at once.
pub const MAX_PATTERNS: usize = 16;
/// UTF-8 bytes of all patterns of one form that are checked here.
pub const MAX_PATTERNS_BYTES: usize = 4_096;
/// Bytes of the address of a page.
pub const MAX_URL_BYTES: usize = 8_192;
