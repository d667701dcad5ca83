//! What the host supplies when a server asks: forms filled in, pages visited, a model's answers, folders to work in.
//!
//! One [`Suppliers`] serves every revision: requests of a legacy server and the parts of a modern `input_required` come
//! here alike. None is there by default, and what is not supplied is not declared (S2, S7). A call that is made for somebody
//! else has a [`Relay`], which is asked in their place.
//!
//! Everything a server sends is checked before a supplier sees it: a form that cannot be shown, or a page that must not
//! be opened, is never asked for. What a supplier answers is checked before the server sees it. This module asks nobody
//! itself, opens nothing and fetches nothing.
//!
//! **Invariant:** an accepted form that is sent satisfies the form that was asked.

mod form;
mod limits;
mod page;
mod relay;
mod roots;
mod suppliers;

pub use form::{
    Choice, Fault, Field, FieldKind, FieldProblem, Form, FormError, NumberKind, Pattern, TextFormat,
};
pub use limits::{
    MAX_DEFAULT_BYTES, MAX_DESCRIPTION_BYTES, MAX_FIELDS, MAX_LABEL_BYTES, MAX_MESSAGE_BYTES,
    MAX_NAME_BYTES, MAX_OPTIONS, MAX_PATTERN_BYTES, MAX_PATTERNS, MAX_PATTERNS_BYTES,
    MAX_URL_BYTES,
};
pub use page::{Page, PageError};
pub use relay::{Refusal, Relay};
pub use roots::{Root, RootError};
pub use suppliers::{
    Answer, BoxFuture, Consent, FormSupplier, RootsSupplier, Sampler, Suppliers, UrlSupplier,
};
