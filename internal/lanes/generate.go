package lanes

// The vector code is written by a program in a module of its own, so that its
// assembler library is no dependency of this one.
//
//go:generate go run -C ../asm . -isa avx512 -pkg lanes -out ../lanes/vectors_avx512_amd64.s -stubs ../lanes/vectors_avx512_amd64.go
//go:generate go run -C ../asm . -isa avx2 -pkg lanes -out ../lanes/vectors_avx2_amd64.s -stubs ../lanes/vectors_avx2_amd64.go
//go:generate go run -C ../asm . -neon ../lanes/vectors
