// Times OpenBLAS on the matrices that `go test -bench 'Gemm|Cholesky' ./level3` times, and
// prints lines that benchstat lays beside those:
//
//	cc -O2 -o openblas docs/compare/openblas.c -lopenblas -lm        # Debian: libopenblas-dev
//	go test -run xxx -bench '^Benchmark(Gemm|Cholesky)$/n=(1000|2000)$/impl=ours' -cpu 1 -count 6 ./level3 > both.txt
//	OPENBLAS_NUM_THREADS=1 OPENBLAS_CORETYPE=SkylakeX ./openblas >> both.txt
//	benchstat -col /impl both.txt
//
// Debian's OpenBLAS 0.3.21 takes a processor it does not know for an old one, hence the
// core type, which has to be given where the processor has AVX-512. It is C and not Go so
// that the module stays free of cgo.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *);
void dpotrf_(const char *, const int *, double *, const int *, int *);
char *openblas_get_corename(void);

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static double *matrix(int n) {
	double *m = malloc(sizeof(double) * n * n);
	if (m == NULL) {
		fprintf(stderr, "no memory for n = %d\n", n);
		exit(1);
	}
	return m;
}

int main(void) {
	const int sizes[] = {1000, 2000, 4000}, runs = 6;
	const double one = 1, zero = 0;
	fprintf(stderr, "OpenBLAS runs its code for %s\n", openblas_get_corename());
	for (int s = 0; s < 3; s++) {
		const int n = sizes[s];
		const size_t bytes = sizeof(double) * n * n;
		const double cube = (double)n * n * n;
		double *general = matrix(n), *definite = matrix(n), *out = matrix(n);
		// Diagonally dominant, so positive definite; what it holds does not matter to the time.
		for (long i = 0; i < (long)n * n; i++) {
			general[i] = (i * 7919 % 1000) / 1000.0 - 0.5;
			definite[i] = 0;
		}
		for (int i = 0; i < n; i++)
			for (int j = 0; j <= i; j++)
				definite[(long)i * n + j] = definite[(long)j * n + i] = general[(long)i * n + j] + (i == j ? n : 0);
		for (int op = 0; op < 2; op++)
			for (int r = -1; r < runs; r++) { // the first is to warm up
				const int times = 1 + (int)(2e10 / cube);
				int info = 0;
				const double start = now();
				for (int k = 0; k < times; k++) {
					if (op == 0) {
						dgemm_("N", "N", &n, &n, &n, &one, general, &n, definite, &n, &zero, out, &n);
					} else {
						memcpy(out, definite, bytes);
						dpotrf_("U", &n, out, &n, &info);
					}
				}
				const double each = (now() - start) / times;
				if (info != 0) {
					fprintf(stderr, "dpotrf says %d\n", info);
					return 1;
				}
				if (r >= 0)
					printf("Benchmark%s/n=%d/impl=openblas %d %.0f ns/op %.2f GFLOP/s\n", op ? "Cholesky" : "Gemm", n,
					       times, 1e9 * each, (op ? 1. / 3 : 2) * cube / each / 1e9);
			}
		free(general), free(definite), free(out);
	}
	return 0;
}
