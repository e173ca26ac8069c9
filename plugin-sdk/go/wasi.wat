;; A stub of the WASI functions that Go's runtime imports, so that the component of a plugin in Go imports only the
;; contract.
;;
;; It implements nothing of WASI: there are no files, arguments or environment variables. The clock advances by a
;; microsecond whenever it is read (use `system` of the contract for the time); randomness, which only seeds hash maps,
;; is a fixed sequence (use `system` for real randomness); standard output and error are dropped (use `log`).
(module
  (import "env" "memory" (memory 0))
  (global $now (mut i64) (i64.const 1000000))
  (global $state (mut i64) (i64.const 0x2545f4914f6cdd1d))

  (func (export "sched_yield") (result i32) (i32.const 0))
  (func (export "proc_exit") (param i32) unreachable)

  (func $nothing (param $count i32) (param $size i32) (result i32)
    (i32.store (local.get $count) (i32.const 0))
    (i32.store (local.get $size) (i32.const 0))
    (i32.const 0))
  (export "args_sizes_get" (func $nothing))
  (export "environ_sizes_get" (func $nothing))
  (func $empty (param i32 i32) (result i32) (i32.const 0))
  (export "args_get" (func $empty))
  (export "environ_get" (func $empty))

  (func (export "clock_time_get") (param $clock i32) (param $precision i64) (param $time i32) (result i32)
    (global.set $now (i64.add (global.get $now) (i64.const 1000)))
    (i64.store (local.get $time) (global.get $now))
    (i32.const 0))

  ;; xorshift64, a byte at a time.
  (func (export "random_get") (param $at i32) (param $length i32) (result i32)
    (block $done
      (loop $more
        (br_if $done (i32.eqz (local.get $length)))
        (global.set $state (i64.xor (global.get $state) (i64.shl (global.get $state) (i64.const 13))))
        (global.set $state (i64.xor (global.get $state) (i64.shr_u (global.get $state) (i64.const 7))))
        (global.set $state (i64.xor (global.get $state) (i64.shl (global.get $state) (i64.const 17))))
        (i64.store8 (local.get $at) (global.get $state))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (local.set $length (i32.sub (local.get $length) (i32.const 1)))
        (br $more)))
    (i32.const 0))

  ;; Reports every event that is waited for as ready, a millisecond later.
  (func (export "poll_oneoff") (param $in i32) (param $out i32) (param $count i32) (param $events i32) (result i32)
    (i32.store (local.get $events) (local.get $count))
    (global.set $now (i64.add (global.get $now) (i64.const 1000000)))
    (block $done
      (loop $more
        (br_if $done (i32.eqz (local.get $count)))
        (i64.store (local.get $out) (i64.load (local.get $in)))
        (i64.store offset=8 (local.get $out) (i64.const 0))
        (i32.store8 offset=10 (local.get $out) (i32.load8_u offset=8 (local.get $in)))
        (i64.store offset=16 (local.get $out) (i64.const 0))
        (i64.store offset=24 (local.get $out) (i64.const 0))
        (local.set $in (i32.add (local.get $in) (i32.const 48)))
        (local.set $out (i32.add (local.get $out) (i32.const 32)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $more)))
    (i32.const 0))

  ;; Takes everything and keeps nothing.
  (func (export "fd_write") (param $fd i32) (param $vectors i32) (param $count i32) (param $written i32) (result i32)
    (local $sum i32)
    (block $done
      (loop $more
        (br_if $done (i32.eqz (local.get $count)))
        (local.set $sum (i32.add (local.get $sum) (i32.load offset=4 (local.get $vectors))))
        (local.set $vectors (i32.add (local.get $vectors) (i32.const 8)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $more)))
    (i32.store (local.get $written) (local.get $sum))
    (i32.const 0))

  ;; 8 is EBADF: there is no such file.
  (func (export "fd_close") (param i32) (result i32) (i32.const 8))
  (func (export "fd_read") (param i32 i32 i32 i32) (result i32) (i32.const 8))
  (func (export "fd_fdstat_get") (param i32 i32) (result i32) (i32.const 8))
  (func (export "fd_fdstat_set_flags") (param i32 i32) (result i32) (i32.const 8))
  (func (export "fd_prestat_get") (param i32 i32) (result i32) (i32.const 8))
  (func (export "fd_prestat_dir_name") (param i32 i32 i32) (result i32) (i32.const 8)))
