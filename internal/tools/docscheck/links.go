package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	maxCode = 80 // Characters in a line of code, the width of the registry's column.
	// The registry and the repository, as pages link to them.
	registry   = "https://registry.terraform.io/providers/agentyard/agentyard/latest/docs"
	repository = "https://github.com/agentyard/terraform-provider-agentyard"
)

// languages are those of the code blocks. The registry colors them all.
var languages = []string{"terraform", "hcl", "sh", "shell", "bash", "json", "yaml", "text", "console", "rego", "go", "diff", "dockerfile", "mermaid"}

var (
	fencedCode = regexp.MustCompile("(?ms)^ *```([^\n]*)\n(.*?)^ *```")
	heading    = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)
	htmlAnchor = regexp.MustCompile(`id="([^"]+)"`)
	linkTo     = regexp.MustCompile(`\]\(([^)\s]+)[^)]*\)|href="([^"]+)"`)
	noAnchor   = regexp.MustCompile(`[^\pL\pN _-]`)
)

// checkCode returns what is wrong with the code blocks of a page.
func checkCode(page string) (problems []string) {
	for _, block := range fencedCode.FindAllStringSubmatch(page, -1) {
		if language := block[1]; language != "" && !slices.Contains(languages, language) {
			problems = append(problems, "a code block in an unknown language: "+language)
		}
		for line := range strings.Lines(block[2]) {
			line = strings.TrimRight(line, "\n")
			if len([]rune(line)) > maxCode {
				problems = append(problems, fmt.Sprintf("a line of code has more than %d characters: %s", maxCode, line))
			}
		}
	}
	return problems
}

// anchors returns what a link to a page may have behind "#": its headings and its HTML anchors.
func anchors(page string) map[string]bool {
	found := map[string]bool{}
	page = fencedCode.ReplaceAllString(page, "")
	for _, match := range heading.FindAllStringSubmatch(page, -1) {
		text := noAnchor.ReplaceAllString(linkTarget.ReplaceAllString(match[1], "]"), "")
		found[strings.ReplaceAll(strings.ToLower(text), " ", "-")] = true
	}
	for _, match := range htmlAnchor.FindAllStringSubmatch(page, -1) {
		found[match[1]] = true
	}
	return found
}

// checkLinks returns the links of a page that lead nowhere. Pages are by name, which is the path below docs without its extension.
func checkLinks(name string, pages map[string]string, project string) (problems []string) {
	page := inlineCode.ReplaceAllString(fencedCode.ReplaceAllString(pages[name], ""), "")
	for _, match := range linkTo.FindAllStringSubmatch(page, -1) {
		link := match[1] + match[2]
		if problem := checkLink(name, link, pages, project); problem != "" {
			problems = append(problems, link+": "+problem)
		}
	}
	return problems
}

func checkLink(from, link string, pages map[string]string, project string) string {
	for _, kind := range []string{"/tree/main/", "/blob/main/"} {
		if file, ok := strings.CutPrefix(link, repository+kind); ok {
			if _, err := os.Stat(filepath.Join(project, filepath.FromSlash(file))); err != nil {
				return "no such file in the repository"
			}
			return ""
		}
	}
	target, fragment, _ := strings.Cut(link, "#")
	name := path.Join(path.Dir(from), target)
	if rest, ok := strings.CutPrefix(target, registry+"/"); ok {
		name = rest
	} else if strings.Contains(target, "://") {
		return "" // Another site is not asked.
	} else if from == "index" && target != "" {
		// The address of the index has no trailing slash, so a browser resolves a relative link one level too high.
		return "a link of the index page must be absolute"
	}
	if target == "" {
		name = from
	}
	found, ok := pages[name]
	switch {
	case !ok:
		return "no such page"
	case fragment != "" && !anchors(found)[fragment]:
		return "no such anchor"
	}
	return ""
}
