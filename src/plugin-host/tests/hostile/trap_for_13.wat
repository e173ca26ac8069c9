;; exports: decorate routes
;; Traps for account 13, two functions deep; leaves a mark in its memory that would make the next call trap as well.
(import "rookery:plugin/config@0.1.0" "version" (func $version (result i64)))
(func $_ZN6plugin7unlucky17h0123456789abcdefE (i32.store (i32.const 8192) (i32.const 1)) (unreachable))
(func (export "rookery:plugin/decorate@0.1.0#decorate") (param i32) (param $viewer i64) (param i32 i32 i32 i32) (result i32)
  (if (i32.load (i32.const 8192)) (then (unreachable)))
  (if (i64.eq (local.get $viewer) (i64.const 13)) (then (call $_ZN6plugin7unlucky17h0123456789abcdefE)))
  (call $fine))
(func (export "rookery:plugin/routes@0.1.0#handle") (param i32) (result i32)
  (if (i64.eq (call $version) (i64.const 13)) (then (call $_ZN6plugin7unlucky17h0123456789abcdefE)))
  (call $ok))
