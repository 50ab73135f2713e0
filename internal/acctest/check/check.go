// Package check has what all tests check alike, in one line. It knows nothing of the project.
package check

import (
	"reflect"
	"strings"
	"testing"
)

// Must ends the test at an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Is fails the test unless both values are the same.
func Is[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %+v, want %+v", what, got, want)
	}
}

// Says fails the test unless a text contains all parts.
func Says(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("the text lacks %q: %s", part, text)
		}
	}
}

// Only ends the test unless a list has one element, and returns it.
func Only[T any](t testing.TB, list []T) T {
	t.Helper()
	if len(list) != 1 {
		t.Fatalf("%d, want one: %+v", len(list), list)
	}
	return list[0]
}

// Lacks fails the test if a text contains one of the parts.
func Lacks(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Errorf("the text has %q: %s", part, text)
		}
	}
}

// Fails fails the test unless there is an error that contains all parts.
func Fails(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want %q", parts)
		return
	}
	Says(t, err.Error(), parts...)
}

// None fails the test if a list is not empty.
func None[T any](t testing.TB, what string, got []T) {
	t.Helper()
	if len(got) > 0 {
		t.Errorf("%s: got %+v, want none", what, got)
	}
}
