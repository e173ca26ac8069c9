;; exports: routes
;; Passes 192 KiB to the host in three lines of log, asks for a key-value pair, and answers with 48 KiB of JSON.
(import "rookery:plugin/log@0.1.0" "emit" (func $emit (param i32 i32 i32 i32 i32)))
(import "rookery:plugin/kv@0.1.0" "get" (func $get (param i32 i32 i32)))
(func (export "rookery:plugin/routes@0.1.0#handle") (param i32) (result i32)
  (local $at i32) (local $left i32)
  (local.set $at (i32.shl (memory.grow (i32.const 1)) (i32.const 16)))
  (memory.fill (local.get $at) (i32.const 49) (i32.const 65536))
  (local.set $left (i32.const 3))
  (loop $again
    (call $emit (i32.const 2) (local.get $at) (i32.const 65536) (i32.const 0) (i32.const 0))
    (local.set $left (i32.sub (local.get $left) (i32.const 1)))
    (br_if $again (local.get $left)))
  (call $get (i32.const 0) (i32.const 0) (i32.const 4096))
  (call $get (i32.const 0) (i32.const 0) (i32.const 4096))
  (i32.store (i32.const 1048) (i32.const 1))
  (i32.store (i32.const 1056) (local.get $at))
  (i32.store (i32.const 1060) (i32.const 49152))
  (call $ok))
