//! Folders to work in, as `file:` URIs.

use std::path::Path;

use url::Url;

#[cfg(test)]
mod tests;

/// A folder or a file to work in: a `file:` URI on this machine and a name for people.
///
/// Source: 2026-07-28, `client/roots`, "Root".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    uri: Url,
    name: Option<String>,
}

/// Why something is not a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RootError {
    /// It is not a URI.
    #[error("not a URI")]
    NotUri,
    /// Its scheme is not `file`.
    #[error("not a file: URI")]
    NotFile,
    /// It names another machine, or holds a query, a fragment, or an encoded NUL or separator.
    #[error("not the plain path of a file")]
    NotPlain,
    /// The path is not absolute.
    #[error("not an absolute path")]
    NotAbsolute,
}

impl Root {
    /// A root by its URI. Dot segments are resolved.
    ///
    /// # Errors
    /// What it is not.
    pub fn new(uri: &str) -> Result<Self, RootError> {
        let uri = Url::parse(uri).map_err(|_| RootError::NotUri)?;
        if uri.scheme() != "file" {
            return Err(RootError::NotFile);
        }
        let path = uri.path().to_ascii_lowercase();
        let hidden = ["%00", "%2f", "%5c"]
            .into_iter()
            .any(|encoded| path.contains(encoded));
        if uri.has_host() || uri.query().is_some() || uri.fragment().is_some() || hidden {
            return Err(RootError::NotPlain);
        }
        Ok(Self { uri, name: None })
    }

    /// A root by its absolute path.
    ///
    /// # Errors
    /// [`RootError::NotAbsolute`], or what keeps the path from being a URI.
    pub fn of_path(path: &Path) -> Result<Self, RootError> {
        let uri = Url::from_file_path(path).map_err(|()| RootError::NotAbsolute)?;
        Self::new(uri.as_str())
    }

    /// With a name for people.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The URI.
    #[must_use]
    pub fn uri(&self) -> &Url {
        &self.uri
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}
