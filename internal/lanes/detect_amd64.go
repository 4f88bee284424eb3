package lanes

import "golang.org/x/sys/cpu"

// detect lists what the processor and the operating system can run, best first.
func detect() []*code {
	var found []*code
	if cpu.X86.HasAVX512F {
		found = append(found, &code{
			name:      "avx512",
			distances: oneStrip(distancesAVX512), weighted: oneWeightedStrip(weightedDistancesAVX512), dots: oneStrip(dotsAVX512),
			gaussian: inVectors(8, gaussianAVX512), exponential: inVectors(8, exponentialAVX512),
			matern32: inVectors(8, matern32AVX512), matern52: inVectors(8, matern52AVX512),
			columnSums: probed(columnSumsAVX512), columnSlopes: contracted(columnSlopesAVX512),
			add: inStrips(addAVX512), normals: pairsOfVectors(8, normalsAVX512), blend: fourRows(8, blendAVX512), outer: square(8, outerAVX512),
			rows: 8, squares: oneTile(8, squaresAVX512),
		})
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		found = append(found, &code{
			name:      "avx2",
			distances: oneStrip(distancesAVX2), weighted: oneWeightedStrip(weightedDistancesAVX2), dots: oneStrip(dotsAVX2),
			gaussian: inVectors(4, gaussianAVX2), exponential: inVectors(4, exponentialAVX2),
			matern32: inVectors(4, matern32AVX2), matern52: inVectors(4, matern52AVX2),
			columnSums: probed(columnSumsAVX2), columnSlopes: contracted(columnSlopesAVX2),
			add: inStrips(addAVX2), normals: pairsOfVectors(4, normalsAVX2), blend: fourRows(4, blendAVX2), outer: square(4, outerAVX2),
			rows: 4, squares: oneTile(4, squaresAVX2),
		})
	}
	return found
}
