package evidence

// Reads are for the tests.
var Reads = reads
