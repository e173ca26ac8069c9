;; Prepended to every guest that does not bring its own memory: a memory, a bump allocator that is reset with each
;; answer, and two answers. At 1024 lies the `ok` of a route with status 200 and no body; at 2048 an `ok` whose fields
;; are all zero: unit, none or an empty list.
(memory (export "memory") 2)
(global $top (mut i32) (i32.const 65536))
(data (i32.const 1032) "\c8\00")
(func (export "cabi_realloc") (param i32 i32) (param $align i32) (param $size i32) (result i32)
  (local $at i32)
  (local.set $at (i32.and (i32.add (global.get $top) (i32.const 15)) (i32.const -16)))
  (global.set $top (i32.add (local.get $at) (local.get $size)))
  (block $fits
    (br_if $fits (i32.lt_u (global.get $top) (i32.shl (memory.size) (i32.const 16))))
    (drop (memory.grow (i32.add (i32.shr_u (local.get $size) (i32.const 16)) (i32.const 1)))))
  (local.get $at))
(func $ok (result i32) (global.set $top (i32.const 65536)) (i32.const 1024))
(func $fine (result i32) (global.set $top (i32.const 65536)) (i32.const 2048))
