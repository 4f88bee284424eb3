# An index of the commands worth knowing. Nothing here does anything of its own.

.PHONY: help build test test-all test-arm64 emulator beam flink flink-faults flink-process flink-flights python wheel browser lint format race fuzz robust bench bench-cores generate licences attack release release-test

help:       ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 16

build:      ## the command, as a static binary
	CGO_ENABLED=0 go build -trimpath -o lossep ./cmd/lossep

test:       ## the tests of this module, which need nothing but Go: what to run while working
	go test ./...

test-all: browser emulator ## everything that has to pass: the page in a browser, the Python package, Beam and arm64's vector code too
	@$(MAKE) --no-print-directory -j 2 --output-sync=target python test
	cd beam && go test ./...
	@level3/arm64.sh short

test-arm64: emulator ## the vector code for arm64 and the packages that stand on it, emulated: takes ten minutes
	@level3/arm64.sh

beam:       ## the command for clusters, which is a module of its own
	cd beam && CGO_ENABLED=0 go build -trimpath -o lossep-beam ./cmd/lossep-beam

flink:      ## fit and decide on Flink, in one process: wants Java 17 and Maven, and takes minutes
	cd beam && flink/run.sh sh -c 'go test ./cluster -run FlinkIs -flink $$FLINK -v -count 1 -timeout 60m'

flink-faults: ## a task manager of two is killed in the middle of a pass, and the driver between passes
	cd beam && flink/run.sh cluster sh -c 'go test ./cluster -run FlinkLoses -flink $$FLINK -flink.home $$LOSSEP_FLINK -v -count 1 -timeout 60m'

flink-process: beam ## workers that are processes of their own on two task managers
	cd beam && flink/run.sh cluster sh -c 'go test ./cluster -run FlinkIs -flink $$FLINK -flink.workers 2 -flink.environment PROCESS \
	  -flink.command $(CURDIR)/beam/lossep-beam -v -count 1 -timeout 60m'

flink-flights: build beam ## three million flights on Flink and in one process; FLIGHTS is the folder that docs/compare/flights.py makes, POINTS how many inducing points (100)
	beam/flink/run.sh beam/flink/flights.sh $(FLIGHTS)

python:     ## the tests of the Python package, where Python and the package index are at hand
	@python/test.sh

wheel:      ## wheels of the Python package for all platforms, into python/dist
	@python/wheels.sh

release:    ## archives, packages, images, wheels, checksums and bills of materials for all platforms, into release/dist; publishes nothing
	release/build.sh $(PLATFORM)

release-test: ## run what make release made: archive, package in a clean Debian root, wheel, image; wants root and mmdebstrap
	release/test.sh

browser:    ## Chromium for the tests of the page, where Debian's packages can be installed
	@which chromium chromium-browser google-chrome headless-shell | grep -q . || \
	{ apt-get update && apt-get install -y --no-install-recommends chromium fonts-liberation; } || \
	echo "No browser: the tests of the page are skipped. Install Chromium, or name one in LOSSEP_BROWSER."

emulator:   ## qemu for the tests of arm64, where Debian's packages can be installed
	@which qemu-aarch64-static qemu-aarch64 | grep -q . || \
	{ apt-get update && apt-get install -y --no-install-recommends qemu-user-static; } || \
	echo "No emulator: the tests of arm64 are skipped. Install qemu-user."

lint:       ## vet and staticcheck; of the Beam module, with all that it imports, that takes minutes the first time
	go vet ./... && go tool staticcheck ./...
	check=$$(go tool -n staticcheck) && cd beam && go vet ./... && $$check ./...
	cd docs/compare && go vet ./...

format:     ## rewrite the code in its one format
	go tool gofumpt -w .

race:       ## what runs in several goroutines, under the race detector
	go test -race ./internal/tasks ./internal/lanes ./kernel ./gauss ./pass
	go test -race -run 'Core|Processor|SameBytes|Determinism|RowByRow|Panic|Fault|AtOnce|Concurrent|Batcher|Reload|Drain' \
	  . ./level3 ./infer ./infer/exact ./infer/corrected ./methods ./gp ./orthant ./nuts ./lab ./audit ./server ./internal/command

fuzz:       ## requests, tables and model files of any kind along their whole path, ten minutes each
	go test ./server -run xxx -fuzz '^FuzzRequestToAnswer$$' -fuzztime 10m
	go test ./internal/command -run xxx -fuzz '^FuzzTableToDecisions$$' -fuzztime 10m
	go test ./internal/command -run xxx -fuzz '^FuzzModelFileToPredictions$$' -fuzztime 10m
	go test ./recipe -run xxx -fuzz '^FuzzRead$$' -fuzztime 10m -fuzzminimizetime 1x
	go test ./recipe -run xxx -fuzz '^FuzzRecipe$$' -fuzztime 10m -fuzzminimizetime 1x
	go test ./table/parquet -run xxx -fuzz '^FuzzOpen$$' -fuzztime 10m -fuzzminimizetime 1x

robust:     ## the long tests: ten thousand random problems of each kind, 50 posteriors sampled twice, all far rows
	go test ./gp ./lab -run Robustness -robust 10000 -v -timeout 60m
	go test . -run FarRowsOfEveryKernel -robust -v -timeout 60m
	go test ./infer/exact -run NUTS -trials 50 -calibrations 1000 -v -timeout 60m

bench:      ## all benchmarks; then matrices and sweeps on one core and on two
	go test -run xxx -bench . ./...
	go test -run xxx -bench '^Benchmark(Gemm|Syrk|Trsm|Cholesky|Inverse)$$' -cpu 1,2 ./level3
	go test -run xxx -bench Cores -benchtime 31x ./level3
	go test -run xxx -bench Stage -cpu 1,2 ./gauss
	go test -run xxx -bench Sweep -cpu 1,2 -benchtime 4x ./infer

bench-cores: ## the speed-up to be expected on 2, 4, 16 and 64 cores, computed on one; DATA is a folder with mammography.csv, credit.csv, flights.csv
	go test ./internal/command -run xxx -bench ExpectedSpeedup -benchtime 1x -timeout 60m $(if $(DATA),-data $(abspath $(DATA)))

generate:   ## the assembly of packages level3 and lanes
	go generate ./level3 ./internal/lanes

licences:   ## the notices of what the program contains, anew
	go test ./internal/notices -update

attack:     ## sixty-four clients decide while others do their worst, for a minute: wants an idle machine
	go test ./internal/command -run TestDecisionsUnderAttack -v -attack 30s
