package main

import (
	"archive/zip"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

func TestLicensesOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Mozilla Public License, version 2.0\n\n1. Definitions":                                               "MPL-2.0",
		"Copyright (c) 2023\n\nMozilla Public License Version 2.0\n==":                                        "MPL-2.0",
		"Apache License\n  Version 2.0, January 2004":                                                         "Apache-2.0",
		"Permission is hereby granted, free of charge,\nto any person":                                        "MIT",
		"Redistribution and use in source and binary forms, with":                                             "BSD-2-Clause",
		"Redistribution and use in source and binary forms\n may not be used to endorse or promote\nproducts": "BSD-3-Clause",
		"GNU GENERAL PUBLIC LICENSE Version 3":                                                                "",
	} {
		check.Is(t, text, strings.Join(licensesOf(text), " "), want)
	}
}

func TestLicenseIn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if got, err := licenseIn(dir); err == nil {
		t.Errorf("without a license: %q", got)
	}
	for name, text := range map[string]string{"LICENSE": "Apache License Version 2.0", "LICENSE.libyaml": "Permission is hereby granted, free of charge"} {
		check.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	if got, err := licenseIn(dir); err != nil || got != "Apache-2.0 AND MIT" {
		t.Errorf("two licenses: %q, %v", got, err)
	}
}

// A direct dependency of the project is there for a reason that a contributor can read.
func TestContributing_justifiesDirectDependencies(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..")
	contributing, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	check.Must(t, err)
	cmd := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json")
	cmd.Dir = root
	out, err := cmd.Output()
	check.Must(t, err)
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	check.Must(t, json.Unmarshal(out, &mod))
	for _, required := range mod.Require {
		if row := "| `" + required.Path + "` |"; required.Indirect == strings.Contains(string(contributing), row) {
			t.Errorf("CONTRIBUTING.md must list direct dependencies, and no others: %s", required.Path)
		}
	}
}

func TestWriteSBOM(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	check.Must(t, err)
	archive := filepath.Join(t.TempDir(), "p.zip")
	zipOf(t, archive, map[string]string{"LICENSE": "", "program": string(read(t, program))})
	files := []string{archive + "1", archive + "2"}
	for _, file := range files {
		check.Must(t, writeSBOM(t.Context(), "1.2.3", archive, file))
	}
	first := read(t, files[0])
	if !slices.Equal(first, read(t, files[1])) {
		t.Error("the same archive got two documents")
	}
	var document struct {
		Format     string `json:"bomFormat"`
		Components []component
		Metadata   struct{ Component component }
	}
	check.Must(t, json.Unmarshal(first, &document))
	if document.Format != "CycloneDX" || document.Metadata.Component.Version != "v1.2.3" || document.Components[0].Name != "std" {
		t.Errorf("the document:\n%s", first)
	}
	zipOf(t, archive, map[string]string{"LICENSE": ""})
	check.Fails(t, writeSBOM(t.Context(), "1.2.3", archive, files[0]))
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(file)
	check.Must(t, err)
	return content
}

func zipOf(t *testing.T, archive string, files map[string]string) {
	t.Helper()
	file, err := os.Create(archive)
	check.Must(t, err)
	writer := zip.NewWriter(file)
	for name, content := range files {
		entry, err := writer.Create(name)
		if err == nil {
			_, err = entry.Write([]byte(content))
		}
		check.Must(t, err)
	}
	check.Must(t, writer.Close())
	check.Must(t, file.Close())
}
