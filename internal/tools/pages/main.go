// Command pages renders the generated docs like the registry does, and fails if a link or anchor leads nowhere, a line of
// code is wider than the registry's column, or the language of a code block is unknown.
//
// usage: go run . PROJECT OUTPUT
package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/chroma/v2"
	chromahtml "github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/alecthomas/chroma/v2/styles"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
	"go.abhg.dev/goldmark/frontmatter"
)

const (
	maxCode = 80 // Characters in a line of code.
	// The registry and the repository, as pages link to them.
	registry   = "https://registry.terraform.io/providers/agentyard/agentyard/latest/docs"
	repository = "https://github.com/agentyard/terraform-provider-agentyard"
)

//go:embed page.html
var layout string

var (
	markdown = goldmark.New(
		goldmark.WithExtensions(extension.GFM, &frontmatter.Extender{}),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(html.WithUnsafe(), // The generated schemas have anchors in HTML.
			renderer.WithNodeRenderers(util.Prioritized(highlighter{}, 100))),
	)
	colors    = chromahtml.New(chromahtml.WithClasses(true))
	callout   = regexp.MustCompile(`(?m)^([~\-!])> (.+)$`)
	codeBlock = regexp.MustCompile("(?s)```(\\w*)\n(.*?)```")
	reference = regexp.MustCompile(`href="([^"]+)"`)
	anchor    = regexp.MustCompile(`id="([^"]+)"`)
)

// page is one file of the docs.
type page struct {
	Name, Title, Subcategory string // The name is the path below docs, without its extension.
	Content                  template.HTML
	anchors                  map[string]bool
	problems                 []string // Of the code.
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: go run . PROJECT OUTPUT")
		os.Exit(2)
	}
	problems, err := run(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, "pages:", err)
		os.Exit(1)
	}
	for _, problem := range problems {
		fmt.Println(problem)
	}
	if len(problems) > 0 {
		fmt.Fprintf(os.Stderr, "pages: %d problems\n", len(problems))
		os.Exit(1)
	}
	index, err := filepath.Abs(filepath.Join(os.Args[2], "index.html"))
	if err != nil {
		index = os.Args[2]
	}
	fmt.Printf("pages: open %s in a browser\n", index)
}

func run(project, output string) ([]string, error) {
	pages, err := read(filepath.Join(project, "docs"))
	if err != nil {
		return nil, err
	}
	if err := write(pages, output); err != nil {
		return nil, err
	}
	return check(pages, project), nil
}

func read(folder string) ([]*page, error) {
	var pages []*page
	err := filepath.WalkDir(folder, func(file string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(file) != ".md" {
			return err
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, strings.TrimSuffix(file, ".md"))
		if err != nil {
			return err
		}
		p, err := render(filepath.ToSlash(name), source)
		pages = append(pages, p)
		return err
	})
	return pages, err
}

func render(name string, source []byte) (*page, error) {
	p := &page{Name: name, anchors: map[string]bool{}}
	for _, block := range codeBlock.FindAllSubmatch(source, -1) {
		if language := string(block[1]); language != "" && lexers.Get(language) == nil {
			p.problems = append(p.problems, "a code block in an unknown language: "+language)
		}
		for line := range strings.Lines(string(block[2])) {
			line = strings.TrimRight(line, "\n")
			if len([]rune(line)) > maxCode {
				p.problems = append(p.problems, fmt.Sprintf("a line of code has more than %d characters: %s", maxCode, line))
			}
		}
	}
	source = callout.ReplaceAll(source, []byte("<div class=\"callout\" data-kind=\"$1\">\n\n$2\n\n</div>"))
	var rendered bytes.Buffer
	ctx := parser.NewContext()
	if err := markdown.Convert(source, &rendered, parser.WithContext(ctx)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var meta struct {
		Title       string `yaml:"page_title"`
		Subcategory string `yaml:"subcategory"`
	}
	if err := frontmatter.Get(ctx).Decode(&meta); err != nil {
		return nil, fmt.Errorf("%s: front matter: %w", name, err)
	}
	p.Title, p.Subcategory = meta.Title, meta.Subcategory
	p.Content = template.HTML(rendered.String()) //nolint:gosec // Our own pages.
	for _, found := range anchor.FindAllStringSubmatch(rendered.String(), -1) {
		p.anchors[found[1]] = true
	}
	return p, nil
}

// highlighter renders code blocks with a class for each kind of token, which the styles of the layout color.
type highlighter struct{}

func (highlighter) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, func(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		code := node.(*ast.FencedCodeBlock)
		lexer := lexers.Get(string(code.Language(source)))
		if lexer == nil {
			lexer = lexers.Fallback
		}
		tokens, err := chroma.Coalesce(lexer).Tokenise(nil, string(code.Lines().Value(source)))
		if err == nil {
			err = colors.Format(w, styles.Fallback, tokens)
		}
		return ast.WalkContinue, err
	})
}

// theme is the style sheet of the code, light and dark.
func theme() (template.CSS, error) {
	var css strings.Builder
	for _, scheme := range []string{"light", "dark"} {
		fmt.Fprintf(&css, "@media (prefers-color-scheme: %s) {\n", scheme)
		if err := colors.WriteCSS(&css, styles.Get(map[string]string{"light": "github", "dark": "github-dark"}[scheme])); err != nil {
			return "", err
		}
		css.WriteString("}\n")
	}
	return template.CSS(css.String()), nil //nolint:gosec // Our own styles.
}

// section is a group of the sidebar, with a list for each kind of object.
type section struct {
	Title string
	Kinds []kind
}

type kind struct {
	Title string
	Pages []*page
}

// kinds are the folders of docs, in the order of the sidebar, and their titles there.
var kinds = [][2]string{
	{".", ""}, {"guides", "Guides"}, {"resources", "Resources"}, {"data-sources", "Data Sources"},
	{"ephemeral-resources", "Ephemeral Resources"}, {"list-resources", "List Resources"}, {"actions", "Actions"},
}

// Short is the title as the sidebar shows it: an object without its kind. It can break after each underscore.
func (p *page) Short() template.HTML {
	title, _, _ := strings.Cut(p.Title, " - ")
	if object, _, _ := strings.Cut(title, " "); strings.Contains(object, "_") {
		title = object
	}
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(title), "_", "_<wbr>")) //nolint:gosec // It is escaped.
}

func newSection(title string, pages []*page) section {
	s := section{Title: title}
	for _, k := range kinds {
		var members []*page
		for _, p := range pages {
			if path.Dir(p.Name) == k[0] {
				members = append(members, p)
			}
		}
		slices.SortFunc(members, func(a, b *page) int { return strings.Compare(a.Title, b.Title) })
		if len(members) > 0 {
			s.Kinds = append(s.Kinds, kind{strings.TrimPrefix(k[1], title), members})
		}
	}
	return s
}

func write(pages []*page, output string) error {
	groups := map[string][]*page{}
	for _, p := range pages {
		title := p.Subcategory
		if title == "" && strings.HasPrefix(p.Name, "guides/") {
			title = "Guides"
		}
		groups[title] = append(groups[title], p)
	}
	var sections []section
	for title, group := range groups {
		sections = append(sections, newSection(title, group))
	}
	order := func(title string) string { return strings.Replace(title, "Guides", " ", 1) }
	slices.SortFunc(sections, func(a, b section) int { return strings.Compare(order(a.Title), order(b.Title)) })
	shown, err := template.New("page").Parse(layout)
	if err != nil {
		return err
	}
	code, err := theme()
	if err != nil {
		return err
	}
	for _, p := range pages {
		var out bytes.Buffer
		root := strings.Repeat("../", strings.Count(p.Name, "/"))
		content := reference.ReplaceAllStringFunc(string(p.Content), func(href string) string { return toFile(href, root) })
		if err := shown.Execute(&out, map[string]any{"Page": p, "Sections": sections, "Root": root, "Code": code, "Content": template.HTML(content)}); err != nil { //nolint:gosec // Our own pages.
			return err
		}
		file := filepath.Join(output, filepath.FromSlash(p.Name)+".html")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// toFile makes a link between pages work in the rendered files.
func toFile(href, root string) string {
	target := reference.FindStringSubmatch(href)[1]
	if rest, ok := strings.CutPrefix(target, registry+"/"); ok {
		target = root + rest
	}
	if strings.Contains(target, "://") || strings.HasPrefix(target, "#") {
		return href
	}
	name, fragment, has := strings.Cut(target, "#")
	if has {
		fragment = "#" + fragment
	}
	return `href="` + name + ".html" + fragment + `"`
}

func check(pages []*page, project string) (problems []string) {
	byName := map[string]*page{}
	for _, p := range pages {
		byName[p.Name] = p
	}
	for _, p := range pages {
		for _, problem := range p.problems {
			problems = append(problems, fmt.Sprintf("docs/%s.md: %s", p.Name, problem))
		}
		for _, link := range reference.FindAllStringSubmatch(string(p.Content), -1) {
			if problem := checkLink(p, link[1], byName, project); problem != "" {
				problems = append(problems, fmt.Sprintf("docs/%s.md: %s: %s", p.Name, link[1], problem))
			}
		}
	}
	return problems
}

func checkLink(p *page, link string, pages map[string]*page, project string) string {
	for _, kind := range []string{"/tree/main/", "/blob/main/"} {
		if file, ok := strings.CutPrefix(link, repository+kind); ok {
			if _, err := os.Stat(filepath.Join(project, filepath.FromSlash(file))); err != nil {
				return "no such file in the repository"
			}
			return ""
		}
	}
	target, fragment, _ := strings.Cut(link, "#")
	name := path.Join(path.Dir(p.Name), target)
	if rest, ok := strings.CutPrefix(target, registry+"/"); ok {
		name = rest
	} else if strings.Contains(target, "://") {
		return "" // Another site is not asked.
	} else if p.Name == "index" && target != "" {
		// The address of the index has no trailing slash, so a browser resolves a relative link one level too high.
		return "a link of the index page must be absolute"
	}
	if target == "" {
		name = p.Name
	}
	found := pages[name]
	switch {
	case found == nil:
		return "no such page"
	case fragment != "" && !found.anchors[fragment]:
		return "no such anchor"
	}
	return ""
}
