package crud

import (
	"fmt"
	"os"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
)

// OnlyNamed returns the only object with a name. If there is none or more than one, it returns an error that lists them.
func OnlyNamed[A any](object, name string, found []A, id func(*A) string) (*A, error) {
	switch len(found) {
	case 0:
		return nil, &ObjectError{path.Root("name"), title(object) + " not found", fmt.Sprintf("No %s named %q exists, or the provider's API key cannot see it. Check the name, which is case-sensitive.", object, name)}
	case 1:
		return &found[0], nil
	}
	ids := make([]string, len(found))
	for i := range found {
		ids[i] = id(&found[i])
	}
	slices.Sort(ids)
	return nil, &ObjectError{path.Root("name"), title(object) + " is ambiguous", fmt.Sprintf("%d %ss are named %q: %s. Set id instead of name.", len(found), object, name, phrase.Names(ids, 10))}
}

// ObjectError is an error that an object detected itself, such as a name that two objects share.
type ObjectError struct {
	// At is the argument at fault. It may be empty.
	At              path.Path
	Summary, Detail string
}

func (f *ObjectError) Error() string { return f.Summary + ": " + f.Detail }

// OpenFile opens a regular file that a configuration names, and returns its size. What is, for example, "attachment".
func OpenFile(at path.Path, what, name string) (*os.File, int64, error) {
	var file *os.File
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", name)
	}
	if err == nil {
		file, err = os.Open(name)
	}
	if err != nil {
		return nil, 0, &ObjectError{at, "Cannot read file", fmt.Sprintf("The %s cannot be read: %v. Relative paths start at the directory where Terraform runs. Use path.module or path.root for others.", what, err)}
	}
	return file, info.Size(), nil
}

// Failure returns the errors of diagnostics as one error, or nil if there are none.
func Failure(diags diag.Diagnostics) error {
	if diags.HasError() {
		return &failure{diags}
	}
	return nil
}

type failure struct{ diags diag.Diagnostics }

func (f *failure) Error() string { return f.diags[0].Summary() + ": " + f.diags[0].Detail() }

// Explained adds options that only the cause of an error decides, such as which argument is at fault. It returns nil for nil.
func Explained(err error, options ...apierror.Option) error {
	if err == nil {
		return nil
	}
	return &explained{err, options}
}

type explained struct {
	error
	options []apierror.Option
}

func (e *explained) Unwrap() error { return e.error }

func explain(verb, object string, err error, options []apierror.Option) diag.Diagnostics {
	if e, ok := err.(*explained); ok { //nolint:errorlint // It is made for the place where it is returned, and never wrapped.
		err, options = e.error, slices.Concat(options, e.options)
	}
	if failed, ok := err.(*failure); ok { //nolint:errorlint // A failure is never wrapped either.
		return failed.diags
	}
	if fault, ok := err.(*ObjectError); ok { //nolint:errorlint // An ObjectError is made for the place where it is returned, and never wrapped.
		if len(fault.At.Steps()) == 0 {
			return diag.Diagnostics{diag.NewErrorDiagnostic(fault.Summary, fault.Detail)}
		}
		return diag.Diagnostics{diag.NewAttributeErrorDiagnostic(fault.At, fault.Summary, fault.Detail)}
	}
	return apierror.For(verb, object, err, options...)
}
