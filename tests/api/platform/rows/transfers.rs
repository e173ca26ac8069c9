//! Rows of imports.

use super::*;
use model::transfer::TransferKind;
use store::transfer::Import;

#[tokio::test]
async fn import_is_read_back_as_inserted() {
    let app = TestApp::new().await;
    let mut tx = app.db().begin().await.unwrap();
    insert_account(&mut tx, &account()).await;
    let import = Import {
        id: RowId::from(9_300),
        account_id: ANN.into(),
        kind: TransferKind::DomainBlocks,
        overwrite: true,
        total: 61,
        done: 62,
        failed: 63,
        created_at: time(1),
        finished_at: Some(time(2)),
    };
    store::transfer::insert(&mut tx, &import).await.unwrap();
    same(&import, store::transfer::find(&mut tx, import.id).await.unwrap());
}
