package wiki

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/wikis"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

const maxTreeLevels = 5

// jsonRule accepts JSON that read can decode. The attribute's type already rejects invalid JSON.
type jsonRule struct {
	summary, must string
	read          func(string) error
}

var (
	pagesRule = jsonRule{"Invalid Pages", "a list of pages with path, title, and content", func(s string) error { _, err := readPages(s); return err }}
	treeRule  = jsonRule{"Invalid Page Tree", "a tree of pages with title and path, at most five levels deep", func(s string) error { _, err := readTree(s); return err }}
)

func (r jsonRule) Description(context.Context) string { return "must be " + r.must }

func (r jsonRule) MarkdownDescription(ctx context.Context) string { return r.Description(ctx) }

func (r jsonRule) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	text := req.ConfigValue.ValueString()
	if !value.IsSet(req.ConfigValue) || !json.Valid([]byte(text)) {
		return
	}
	if err := r.read(text); err != nil {
		resp.Diagnostics.AddAttributeError(req.Path, r.summary, fmt.Sprintf("%s must be %s: %s.", req.Path, r.must, err))
	}
}

func readPages(text string) ([]wikis.PageUpload, error) {
	pages, err := readObjects[wikis.PageUpload]("pages", []byte(text), []string{"path", "title", "content"}, []string{"pageId", "order"})
	if err == nil && len(pages) == 0 {
		err = errors.New("the list is empty; to let the service write the pages, omit it")
	}
	for i, page := range pages {
		if err == nil && !staysInWiki(page.Path) {
			err = fmt.Errorf("pages[%d].path is %q, which is not a relative path within the wiki", i, page.Path)
		}
	}
	return pages, err
}

// staysInWiki reports whether a path stays inside the wiki when an export is unpacked.
func staysInWiki(path string) bool {
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' })
	return len(parts) > 0 && !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, `\`) && !slices.Contains(parts, "..")
}

func readTree(text string) ([]wikis.TreeNode, error) {
	return readNodes("page_tree", []byte(text), 1)
}

// treeNode is a node whose children are not decoded yet, because errors must name their position.
type treeNode struct {
	PageID   string          `json:"pageId"`
	Title    string          `json:"title"`
	Path     string          `json:"path"`
	Order    *float64        `json:"order"`
	Children json.RawMessage `json:"children"`
}

func readNodes(where string, text []byte, level int) ([]wikis.TreeNode, error) {
	found, err := readObjects[treeNode](where, text, []string{"title", "path"}, []string{"pageId", "order", "children"})
	if err == nil && len(found) > 0 && level > maxTreeLevels {
		err = fmt.Errorf("%s is on level %d", where, level)
	}
	nodes := make([]wikis.TreeNode, len(found))
	for i, node := range found {
		nodes[i] = wikis.TreeNode{PageID: node.PageID, Title: node.Title, Path: node.Path, Order: node.Order}
		if err == nil && len(node.Children) > 0 && string(node.Children) != "null" {
			nodes[i].Children, err = readNodes(fmt.Sprintf("%s[%d].children", where, i), node.Children, level+1)
		}
	}
	return nodes, err
}

// readObjects decodes a list of objects with these fields and no others. Optional fields may be null. Where names the list in
// errors.
func readObjects[T any](where string, text []byte, required, optional []string) ([]T, error) {
	var items []json.RawMessage
	if json.Unmarshal(text, &items) != nil || items == nil {
		return nil, fmt.Errorf("%s is not a list", where)
	}
	objects := make([]T, len(items))
	for i, item := range items {
		at := fmt.Sprintf("%s[%d]", where, i)
		var fields map[string]json.RawMessage
		if json.Unmarshal(item, &fields) != nil || fields == nil {
			return nil, fmt.Errorf("%s is not an object", at)
		}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if !slices.Contains(required, name) && !slices.Contains(optional, name) {
				return nil, fmt.Errorf("%s has an unknown field %q", at, name)
			}
		}
		for _, name := range required {
			if field := fields[name]; field == nil || string(field) == "null" {
				return nil, fmt.Errorf("%s has no %s", at, name)
			}
		}
		var wrong *json.UnmarshalTypeError
		switch err := json.Unmarshal(item, &objects[i]); {
		case errors.As(err, &wrong):
			return nil, fmt.Errorf("%s.%s must not be a %s", at, wrong.Field, wrong.Value)
		case err != nil:
			return nil, fmt.Errorf("%s: %w", at, err)
		}
	}
	return objects, nil
}

// withinJSON maps fields inside the pages and the tree to the attribute, because each is one JSON string.
func withinJSON(fields apierror.Fields) apierror.Fields {
	lists := []string{"pages", "pageTree"}
	for below := "pageTree.children"; len(lists) <= maxTreeLevels+1; below += ".children" {
		lists = append(lists, below)
	}
	for _, list := range lists {
		root, _, _ := strings.Cut(list, ".")
		fields[list] = fields[root]
		for _, name := range []string{"pageId", "path", "title", "content", "order"} {
			fields[list+"."+name] = fields[root]
		}
	}
	return fields
}

func sameJSON(a, b string) bool {
	first, err := value.JSON(json.RawMessage(a))
	second, err2 := value.JSON(json.RawMessage(b))
	return err == nil && err2 == nil && first.Equal(second)
}
