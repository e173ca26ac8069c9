// Package types has the types of WIT that Go lacks: option, result, tuple and unit.
package types

// Tags of Option and Result.
const (
	OptionNone uint8 = 0
	OptionSome uint8 = 1

	ResultOk  uint8 = 0
	ResultErr uint8 = 1
)

// Unit is a type with a single, empty value.
type Unit struct{}

// Tuple2 is two values.
type Tuple2[A any, B any] struct {
	F0 A
	F1 B
}

// Option is a value or none. The zero Option is none.
type Option[T any] struct {
	some  bool
	value T
}

// Some is an Option with a value.
func Some[T any](value T) Option[T] { return Option[T]{some: true, value: value} }

// None is an Option without a value.
func None[T any]() Option[T] { return Option[T]{} }

// Tag is OptionNone or OptionSome.
func (option Option[T]) Tag() uint8 {
	if option.some {
		return OptionSome
	}
	return OptionNone
}

// IsSome reports whether there is a value.
func (option Option[T]) IsSome() bool { return option.some }

// Some returns the value; it panics when there is none.
func (option Option[T]) Some() T {
	if !option.some {
		panic("Some of an option that is none")
	}
	return option.value
}

// SomeOr returns the value, or other when there is none.
func (option Option[T]) SomeOr(other T) T {
	if option.some {
		return option.value
	}
	return other
}

// Result is a value or an error.
type Result[T any, E any] struct {
	failed bool
	value  T
	err    E
}

// Ok is a Result with a value.
func Ok[T any, E any](value T) Result[T, E] { return Result[T, E]{value: value} }

// Err is a Result with an error.
func Err[T any, E any](err E) Result[T, E] { return Result[T, E]{failed: true, err: err} }

// Tag is ResultOk or ResultErr.
func (result Result[T, E]) Tag() uint8 {
	if result.failed {
		return ResultErr
	}
	return ResultOk
}

// IsErr reports whether there is an error.
func (result Result[T, E]) IsErr() bool { return result.failed }

// Ok returns the value; it panics when there is an error.
func (result Result[T, E]) Ok() T {
	if result.failed {
		panic("Ok of a result that is an error")
	}
	return result.value
}

// Err returns the error; it panics when there is none.
func (result Result[T, E]) Err() E {
	if !result.failed {
		panic("Err of a result that is no error")
	}
	return result.err
}
