//! Moving from a folder to a bucket and back.

use super::*;

/// Files of each kind in the place that is written to, some of them withheld, and one in parts.
async fn filled(bench: &Bench, most: u8) -> Vec<(Key, Vec<u8>)> {
    let mut files = Vec::new();
    for number in 0..most {
        let key = match number % 4 {
            0 => Storage::incoming_key([number; 16]),
            1 => Storage::key(FileKind::Avatar, Format::Png, [number; 16]),
            2 => Storage::archive_key([number; 16]),
            _ => key(number),
        };
        let content = bytes(if number == 3 { 9 << 20 } else { 100 + usize::from(number) });
        bench.storage.put(&key, content.clone()).await.unwrap();
        if number % 5 == 0 {
            bench.storage.place(&key, true).await.unwrap();
        }
        files.push((key, content));
    }
    files
}

async fn check(storage: &Storage, files: &[(Key, Vec<u8>)]) {
    for (number, (key, content)) in files.iter().enumerate() {
        assert_eq!(storage.exists(key).await.unwrap(), number % 5 != 0, "{key}");
        let file = storage.local_file(key, u64::MAX).await.unwrap();
        assert!(std::fs::read(file.path()).unwrap() == *content, "{key}");
    }
}

#[tokio::test]
async fn files_move_to_the_bucket_and_back() {
    let bench = Bench::new(Backend::Local);
    let files = filled(&bench, 40).await;

    let first = bench.storage.transfer(Backend::Bucket, false, &|_| {}).await.unwrap();
    assert_eq!((first.copied, first.present, first.deleted, bench.count().await), (40, 0, 0, (40, 40)));
    let again = bench.storage.transfer(Backend::Bucket, false, &|_| {}).await.unwrap();
    assert_eq!((again.copied, again.present), (0, 40));

    let switched = bench.switched(Backend::Bucket);
    let new = key(200);
    bench.storage.put(&new, bytes(5)).await.unwrap();
    assert!(switched.exists(&new).await.unwrap(), "it is read where it is");
    let rest = switched.transfer(Backend::Bucket, true, &|_| {}).await.unwrap();
    assert_eq!((rest.copied, rest.present, rest.deleted, rest.differing), (1, 40, 41, 0));
    assert_eq!(bench.count().await, (0, 41));
    check(&switched, &files).await;

    let back = bench.storage.transfer(Backend::Local, true, &|_| {}).await.unwrap();
    assert_eq!((back.copied, back.deleted, bench.count().await), (41, 41, (41, 0)));
    check(&bench.storage, &files).await;
}

#[tokio::test]
async fn move_goes_on_after_it_was_killed() {
    let bench = Bench::new(Backend::Local);
    let files = filled(&bench, 200).await;
    let mut runs = 0;
    let done = loop {
        runs += 1;
        // The future is dropped in the middle, as by a kill.
        let copied = AtomicUsize::new(0);
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let stop = Mutex::new(Some(stop));
        let progress = |_: Transferred| {
            if copied.fetch_add(1, Ordering::Relaxed) > 60 {
                stop.lock().unwrap().take();
            }
        };
        tokio::select! {
            biased;
            _ = stopped => {}
            done = bench.storage.transfer(Backend::Bucket, true, &progress) => break done.unwrap(),
        }
        assert!(runs < 20);
    };
    assert!(runs > 2 && done.differing == 0, "{runs} {done:?}");
    assert_eq!(bench.count().await, (0, 200));
    check(&bench.switched(Backend::Bucket), &files).await;
}

#[tokio::test]
async fn damaged_copy_is_replaced_before_its_source_is_deleted() {
    let bench = Bench::new(Backend::Local);
    bench.storage.put(&key(1), b"hello".to_vec()).await.unwrap();
    bench.switched(Backend::Bucket).put(&key(1), b"world".to_vec()).await.unwrap();
    let done = bench.storage.transfer(Backend::Bucket, true, &|_| {}).await.unwrap();
    assert_eq!((done.copied, done.deleted, done.differing), (1, 1, 0));
    assert_eq!(&bench.storage.get(&key(1)).await.unwrap().bytes().await.unwrap()[..], b"hello");
}

#[tokio::test]
async fn deleted_and_withheld_apply_to_both_places() {
    let bench = Bench::new(Backend::Local);
    for number in [1, 2] {
        bench.storage.put(&key(number), b"hello".to_vec()).await.unwrap();
    }
    bench.storage.transfer(Backend::Bucket, false, &|_| {}).await.unwrap();
    bench.storage.delete(&key(1)).await.unwrap();
    bench.storage.place(&key(2), true).await.unwrap();
    for backend in [Backend::Local, Backend::Bucket] {
        let storage = bench.switched(backend);
        assert!(!storage.exists(&key(1)).await.unwrap() && !storage.exists(&key(2)).await.unwrap());
    }
    assert_eq!(bench.count().await, (1, 1));
}

#[tokio::test]
async fn one_process_moves_files() {
    let bench = Bench::new(Backend::Local);
    let _lock = bench.storage.local.lock().unwrap();
    assert!(matches!(bench.storage.transfer(Backend::Bucket, true, &|_| {}).await, Err(Error::Busy)));
    let alone = Storage::open(bench.folder.path()).unwrap();
    assert!(matches!(alone.transfer(Backend::Bucket, true, &|_| {}).await, Err(Error::NoBucket)));
}
