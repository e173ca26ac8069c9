//! The secret key of a server that starts.

use config::{Config, Secret};
use database::Db;

use crate::error::{Error, Result};

/// The secret key, made on the first start.
///
/// # Errors
/// When its file cannot be read or made, and when it is missing although the database has data that was encrypted with it.
pub(crate) async fn load(config: &Config, db: &Db) -> Result<Secret> {
    if let Some(path) = config::secrets::missing(config)
        && store::user::exists(db).await?
    {
        return Err(Error::internal(format!(
            "{path} is missing, but the database {database} has data that was encrypted with it. Restore it from a backup, \
             or start in the folder that has it. If it is lost, make another one with \
             `head -c 48 /dev/urandom | base64 > {path} && chmod 600 {path}`, and then run `rookery user renew-keys` and \
             `rookery push reset`",
            path = path.display(),
            database = config.database.url,
        )));
    }
    config::secrets::load_or_create(config).map_err(Error::internal)
}
