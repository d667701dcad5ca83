//! `--root DIR`: folders that servers are told to work in.

use std::future;
use std::path::PathBuf;

use seawall::inputs::{BoxFuture, Root, RootsSupplier};

use crate::failure::UsageError;

/// The same folders for every server.
pub(super) struct Folders(pub(super) Vec<Root>);

impl RootsSupplier for Folders {
    fn roots(&self, _server: &str) -> BoxFuture<Vec<Root>> {
        Box::pin(future::ready(self.0.clone()))
    }
}

/// The folders as they really are: absolute, links resolved, each once.
pub(super) fn resolve(paths: &[PathBuf]) -> Result<Vec<Root>, UsageError> {
    let mut roots: Vec<Root> = Vec::with_capacity(paths.len());
    for given in paths {
        let unusable = || UsageError::Root {
            path: given.clone(),
        };
        let path = given.canonicalize().map_err(|_| unusable())?;
        if !path.is_dir() {
            return Err(unusable());
        }
        let root = Root::of_path(&path).map_err(|_| unusable())?;
        let root = match path.file_name().and_then(|name| name.to_str()) {
            Some(name) => root.named(name),
            None => root,
        };
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    Ok(roots)
}
