// Package localfile reads files that a configuration names.
package localfile

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
)

// patience is how long a read may wait for a file that claims to be empty.
const patience = time.Second

// Open opens a regular file and returns its size. Some files of the operating system, such as /proc/kmsg, claim to be regular
// and empty, but have content or let a reader wait. They are refused.
func Open(name string) (*os.File, int64, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", name)
	}
	if err != nil {
		return nil, 0, err
	}
	file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	if info.Size() == 0 {
		_ = file.SetReadDeadline(time.Now().Add(patience)) // Ordinary files have no deadlines, and never wait.
		if _, err := file.Read(make([]byte, 1)); err != io.EOF {
			_ = file.Close()
			return nil, 0, fmt.Errorf("%s has content although its size is 0, so it is a file of the operating system", name)
		}
	}
	return file, info.Size(), nil
}

// Read returns the content of a regular file, but at most one byte more than a limit.
func Read(name string, limit int64) ([]byte, error) {
	file, _, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, limit+1))
}

// Unreadable describes a file that cannot be read. What is, for example, "attachment".
func Unreadable(at path.Path, what string, err error) *crud.ObjectError {
	return &crud.ObjectError{At: at, Summary: "Cannot Read File",
		Detail: fmt.Sprintf("The %s cannot be read: %v. Relative paths start at the directory where Terraform runs. Use path.module or path.root for others.", what, err)}
}
