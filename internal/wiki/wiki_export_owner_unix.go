//go:build unix

package wiki

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file to whom an older one belongs, as far as that is allowed, and returns the permissions to set.
func keepOwner(file *os.File, older fs.FileInfo, mode fs.FileMode) (fs.FileMode, error) {
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	is, isUnix := info.Sys().(*syscall.Stat_t)
	was, wasUnix := older.Sys().(*syscall.Stat_t)
	if !isUnix || !wasUnix {
		return mode, nil
	}
	return giveTo(is, was, file.Chown, mode), nil
}

// giveTo gives the group alone where the owner cannot be kept. A group that is another one than before gets what others had.
func giveTo(is, was *syscall.Stat_t, chown func(uid, gid int) error, mode fs.FileMode) fs.FileMode {
	if is.Uid != was.Uid && chown(int(was.Uid), int(was.Gid)) == nil || is.Gid == was.Gid || chown(-1, int(was.Gid)) == nil {
		return mode
	}
	return mode&^0o070 | mode&0o007<<3
}
