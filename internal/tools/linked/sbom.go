package main

import (
	"archive/zip"
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// Why not cyclonedx-gomod: it reads programs and not zips, asks the module proxy for this module at a version that does not exist before
// the release, and guesses licenses by their similarity. The licenses here are exact, because DEPENDENCIES.md needs them anyway.

type component struct {
	Type     string    `json:"type"`
	Ref      string    `json:"bom-ref"`
	Name     string    `json:"name"`
	Version  string    `json:"version"`
	URL      string    `json:"purl"`
	Licenses []license `json:"licenses"`
}

type license struct {
	Expression string `json:"expression"`
}

func newComponent(kind, path, version, expression string) component {
	url := "pkg:golang/" + path + "@" + version
	return component{Type: kind, Ref: url, Name: path, Version: version, URL: url, Licenses: []license{{expression}}}
}

// writeSBOM writes the modules of the program in an archive, as the program itself names them. The same archive always
// gets the same document.
func writeSBOM(ctx context.Context, version, archive, file string) error {
	info, err := programIn(archive)
	if err != nil {
		return err
	}
	var arguments []string
	for _, dependency := range info.Deps {
		arguments = append(arguments, dependency.Path+"@"+dependency.Version)
	}
	modules, err := withLicenses(ctx, arguments)
	if err != nil {
		return err
	}
	components := []component{newComponent("library", "std", strings.TrimPrefix(info.GoVersion, "go"), "BSD-3-Clause")}
	for _, m := range modules {
		components = append(components, newComponent("library", m.Path, m.Version, m.license))
	}
	text, err := json.MarshalIndent(map[string]any{
		"bomFormat":   "CycloneDX",
		"specVersion": "1.6",
		"version":     1,
		"metadata":    map[string]any{"component": newComponent("application", info.Path, "v"+version, "MPL-2.0")},
		"components":  components,
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// programIn returns the build information of the Go program in a zip.
func programIn(archive string) (*buildinfo.BuildInfo, error) {
	reader, err := zip.OpenReader(archive)
	if err != nil {
		return nil, err
	}
	defer func() { _ = reader.Close() }()
	for _, entry := range reader.File {
		content, err := entry.Open()
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(content)
		if err != nil {
			return nil, err
		}
		if info, err := buildinfo.Read(bytes.NewReader(data)); err == nil {
			return info, nil
		}
	}
	return nil, fmt.Errorf("%s contains no Go program", archive)
}
