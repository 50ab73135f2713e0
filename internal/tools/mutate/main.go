// Command mutate changes the code of some packages in many small ways, runs the tests of the package against each change,
// and reports the changes that no test notices. It fails on one that survivors.txt does not list with a reason.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

// packages are those whose own tests decide alone; the folders of internal.
var packages = []string{"client/collection", "client/transport", "contract", "framework/apierror", "framework/crud", "framework/value", "framework/wait"}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	names := os.Args[1:]
	if len(names) == 0 {
		names = packages
	}
	if err := mutate(ctx, os.Stdout, names); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		stop()
		os.Exit(1)
	}
}

func mutate(ctx context.Context, out io.Writer, names []string) error {
	listed, err := parseSurvivors(survivors)
	if err != nil {
		return fmt.Errorf("survivors.txt: %w", err)
	}
	install := exec.CommandContext(ctx, filepath.Join("internal", "tools", "install.sh"), "gremlins")
	install.Stderr = os.Stderr
	gremlins, err := install.Output()
	if err != nil {
		return fmt.Errorf("building gremlins: %w", err)
	}
	scratch, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()

	failed := false
	for _, name := range names {
		folder := "internal/" + name
		result := filepath.Join(scratch, filepath.Base(name)+".json")
		if err := unleash(ctx, strings.TrimSpace(string(gremlins)), folder, result); err != nil {
			return err
		}
		found, err := read(result, folder)
		if err != nil {
			return err
		}
		expected := slices.DeleteFunc(slices.Clone(listed), func(m mutant) bool { return filepath.Dir(m.file) != folder })
		if !report(out, name, found, expected) {
			failed = true
		}
	}
	if failed {
		return errors.New("the tests miss too much")
	}
	return nil
}

// unleash runs gremlins on a folder and has it write its result to a file.
func unleash(ctx context.Context, gremlins, folder, result string) error {
	shim, err := filepath.Abs(filepath.Join("internal", "tools", "mutate", "path"))
	if err != nil {
		return err
	}
	// This many times what the unchanged tests take leaves room to compile on a busy machine. What still times out counts as
	// not killed.
	cmd := exec.CommandContext(ctx, gremlins, "unleash", "--workers", "1", "--timeout-coefficient", "30",
		"--output-statuses", "lt", "--output", result, "./"+folder)
	// A cached result says nothing about how long tests take, and a finding of vet is no failed test.
	cmd.Env = append(os.Environ(), "PATH="+shim+string(os.PathListSeparator)+os.Getenv("PATH"), "GOFLAGS="+os.Getenv("GOFLAGS")+" -count=1 -vet=off")
	// It shows what lives as it is found.
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("gremlins on %s: %w", folder, err)
	}
	return nil
}

// read returns the mutants of a result of gremlins.
func read(result, folder string) ([]mutant, error) {
	data, err := os.ReadFile(result)
	if err != nil {
		return nil, err
	}
	var parsed struct {
		Files []struct {
			Name      string `json:"file_name"`
			Mutations []struct {
				Type, Status string
				Line, Column int
			}
		}
	}
	if err := json.Unmarshal(data, &parsed); err != nil {
		return nil, fmt.Errorf("the result of gremlins: %w", err)
	}
	var found []mutant
	for _, file := range parsed.Files {
		name := folder + "/" + file.Name
		source, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		lines := strings.Split(string(source), "\n")
		for _, m := range file.Mutations {
			line := lines[m.Line-1]
			after, err := change(m.Type, line, m.Column)
			if err != nil {
				return nil, fmt.Errorf("%s:%d:%d: %w", name, m.Line, m.Column, err)
			}
			found = append(found, mutant{file: name, before: strings.TrimSpace(line), after: after, status: m.Status})
		}
	}
	return found, nil
}
