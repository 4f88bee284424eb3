// Package safetensors keeps named arrays of numbers in one file that runs no code
// and that other languages read.
//
// The layout is that of the safetensors format: eight bytes with the length of the
// header (little-endian), the header, the numbers.
//
//	{"__metadata__": {"key": "text", …},
//	 "name": {"dtype": "F64", "shape": [2, 3], "data_offsets": [0, 48]}, …}
//
// The header is JSON, padded with spaces to a multiple of eight bytes; offsets count
// from its end; numbers are little-endian, F64 or I64, rows first. Tensors are sorted
// by name and lie end to end, so that equal contents are equal bytes.
//
// Write adds a metadata entry "sha256": the SHA-256 of the whole file, in 64
// lowercase hexadecimal digits, computed with those digits themselves written as
// zeros. Read checks it, so that a damaged or edited file is refused. In Python:
//
//	raw = open(path, "rb").read()
//	size = 8 + int.from_bytes(raw[:8], "little")
//	digest = json.loads(raw[8:size])["__metadata__"]["sha256"].encode()
//	hashlib.sha256(raw[:size].replace(digest, b"0" * 64) + raw[size:]).hexdigest()
//
// Read is strict: whatever it accepts is complete, without gaps, overlaps, duplicate
// names or trailing bytes, and a short file cannot make it allocate much, whatever
// the header claims.
package safetensors
