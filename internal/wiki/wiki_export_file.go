package wiki

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// fileError is a failure of the file that is written, not of where its bytes come from.
type fileError struct{ err error }

func (e *fileError) Error() string { return e.err.Error() }

func (e *fileError) Unwrap() error { return e.err }

func (e *fileError) remedy() string {
	switch {
	case errors.Is(e.err, syscall.ENOSPC):
		return "Make room on that disk, or choose another path, then run again."
	case errors.Is(e.err, fs.ErrPermission):
		return "Let the user who runs Terraform write into the directory, and to a file that is there, or choose another path."
	}
	return "The directory must exist, and the path must be that of a file, or of nothing yet. A relative path starts at the folder in which Terraform runs."
}

// ofFile makes a fileError of what failed, without the name of the unfinished file, which nobody knows.
func ofFile(err error) error {
	var one *fs.PathError
	var two *os.LinkError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &one):
		err = one.Err
	case errors.As(err, &two):
		err = two.Err
	}
	return &fileError{err}
}

// createFile creates a file that nobody has, and that nobody else reads while it is unfinished.
func createFile(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
}

// mayBeWritten is an error where a file may not be written to. To replace it takes permission for its directory only, so
// nothing else would notice; and root may do anything.
func mayBeWritten(name string, info fs.FileInfo) error {
	err := fs.ErrPermission
	if info.Mode().Perm()&0o222 != 0 {
		var file *os.File
		if file, err = os.OpenFile(name, os.O_WRONLY, 0); err == nil {
			return file.Close()
		}
	}
	return fmt.Errorf("the file that is there may not be written to: %w", ofFile(err))
}

// modeOfNew is what the permissions of any new file beside a name are, which is only seen by making one.
func modeOfNew(name string) (fs.FileMode, error) {
	probe := unfinishedBeside(name)
	file, err := os.OpenFile(probe, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return 0, err
	}
	defer func() {
		_ = file.Close() // Before it is removed, which some systems demand.
		_ = os.Remove(probe)
	}()
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Mode().Perm(), nil
}

// access is whose a file is, and what its permissions are.
type access struct {
	// older is the file that is replaced; nil if there is none.
	older fs.FileInfo
	mode  fs.FileMode
}

// accessFor is what the file of a name shall have: what it has, or else what any new file has.
func accessFor(name string) (access, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		mode, err := modeOfNew(name)
		return access{mode: mode}, err
	case err != nil:
		return access{}, err
	}
	return access{info, info.Mode().Perm()}, mayBeWritten(name, info)
}

// give gives a file that access.
func (a access) give(file *os.File) error {
	mode := a.mode
	if a.older != nil {
		var err error
		if mode, err = keepOwner(file, a.older, mode); err != nil {
			return err
		}
	}
	return setMode(file, mode)
}

// setMode changes the permissions of a file where it has others: some file systems have the same for all, and refuse that.
func setMode(file *os.File, mode fs.FileMode) error {
	info, err := file.Stat()
	if err != nil || info.Mode().Perm() == mode {
		return err
	}
	return file.Chmod(mode)
}

// unfinishedBeside is a name that nothing has in the directory of a file.
func unfinishedBeside(name string) string {
	return filepath.Join(filepath.Dir(name), ".agentyard-"+rand.Text()+".part")
}

// replaceFile writes the file of a destination as a whole or not at all: beside it, under another name, which becomes its
// own when all that fill wrote is on the disk. Until then, and after an error, a file of that name is as it was.
func replaceFile(name string, create func(string) (*os.File, error), fill func(io.Writer) error) error {
	has, err := accessFor(name)
	if err != nil {
		return ofFile(err)
	}
	unfinished := unfinishedBeside(name)
	file, err := create(unfinished)
	if err != nil {
		return ofFile(err)
	}
	isDone := false
	defer func() {
		if !isDone {
			_ = file.Close() // Before it is removed, which some systems demand.
			_ = os.Remove(unfinished)
		}
	}()
	if err := fill(output{file}); err != nil {
		return err
	}
	if err := has.give(file); err != nil {
		return ofFile(err)
	}
	if err := file.Sync(); err != nil {
		return ofFile(err)
	}
	if err := file.Close(); err != nil {
		return ofFile(err)
	}
	if err := os.Rename(unfinished, name); err != nil {
		return ofFile(err)
	}
	isDone = true
	return nil
}

// output is a file whose errors are fileErrors.
type output struct{ file *os.File }

func (o output) Write(p []byte) (int, error) {
	n, err := o.file.Write(p)
	return n, ofFile(err)
}

// destination is where a file of that name stands, or will stand: at the end of its symbolic links, which stay. It is the
// same for all paths that lead there.
func destination(name string) (string, error) {
	place, err := followed(name)
	if err != nil {
		return "", &fileError{err}
	}
	return place, nil
}

func followed(name string) (string, error) {
	if os.IsPathSeparator(name[len(name)-1]) {
		return "", errors.New("the path is that of a directory")
	}
	name, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	const maxLinks = 40
	for range maxLinks {
		dir, err := filepath.EvalSymlinks(filepath.Dir(name))
		if err != nil {
			return "", fmt.Errorf("the directory cannot be used: %w", err)
		}
		name = filepath.Join(dir, filepath.Base(name))
		info, err := os.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return name, nil
		case err != nil:
			return "", ofFile(err)
		case info.IsDir():
			return "", errors.New("the path is that of a directory")
		case info.Mode().IsRegular():
			return name, nil
		case info.Mode()&fs.ModeSymlink == 0:
			return "", errors.New("what is there is no ordinary file")
		}
		target, err := os.Readlink(name)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(dir, target)
		}
		name = target
	}
	return "", errors.New("the symbolic link leads to too many others")
}
