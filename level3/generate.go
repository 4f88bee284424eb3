package level3

// The kernels are written by a program in a module of its own, so that its
// assembler library is no dependency of this one.
//
//go:generate go run -C ../internal/asm . -isa avx512 -pkg level3 -out ../../level3/kernels_avx512_amd64.s -stubs ../../level3/kernels_avx512_amd64.go
//go:generate go run -C ../internal/asm . -isa avx2 -pkg level3 -out ../../level3/kernels_avx2_amd64.s -stubs ../../level3/kernels_avx2_amd64.go
//go:generate go run -C ../internal/asm . -neon ../../level3/kernels
