//go:build !unix

package wiki

import (
	"io/fs"
	"os"
)

// keepOwner changes nothing: a new file gets its owner and its permissions from its directory.
func keepOwner(_ *os.File, _ fs.FileInfo, mode fs.FileMode) (fs.FileMode, error) { return mode, nil }
