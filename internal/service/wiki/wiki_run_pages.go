package wiki

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/wikis"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

// jsonRule accepts JSON that read can decode. The attribute's type already rejects invalid JSON.
type jsonRule struct {
	summary, must string
	read          func(string) error
}

var (
	pagesRule = jsonRule{"Invalid pages", "a list of pages with path, title, and content", func(s string) error { _, err := readPages(s); return err }}
	treeRule  = jsonRule{"Invalid page tree", "a tree of pages with title and path", func(s string) error { _, err := readTree(s); return err }}
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
	var pages []wikis.PageUpload
	if err := decode(text, &pages); err != nil {
		return nil, err
	}
	if len(pages) == 0 {
		return nil, errors.New("the list is empty; to let the service write the pages, omit it")
	}
	for i, page := range pages {
		switch {
		case page.Title == "" || page.Content == nil:
			return nil, fmt.Errorf("pages[%d] needs a title and content", i)
		case !staysInWiki(page.Path):
			return nil, fmt.Errorf("pages[%d].path is %q, which is not a relative path within the wiki", i, page.Path)
		}
	}
	return pages, nil
}

// staysInWiki reports whether a path stays inside the wiki when an export is unpacked.
func staysInWiki(path string) bool {
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' })
	return len(parts) > 0 && !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, `\`) && !slices.Contains(parts, "..")
}

func readTree(text string) ([]wikis.TreeNode, error) {
	var nodes []wikis.TreeNode
	if err := decode(text, &nodes); err != nil {
		return nil, err
	}
	return nodes, checkNodes("page_tree", nodes)
}

func checkNodes(where string, nodes []wikis.TreeNode) error {
	for i, node := range nodes {
		at := fmt.Sprintf("%s[%d]", where, i)
		if node.Title == "" || node.Path == "" {
			return fmt.Errorf("%s needs a title and a path", at)
		}
		if err := checkNodes(at+".children", node.Children); err != nil {
			return err
		}
	}
	return nil
}

// decode rejects unknown fields and everything but a list.
func decode(text string, list any) error {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	var wrong *json.UnmarshalTypeError
	err := decoder.Decode(list)
	if errors.As(err, &wrong) {
		return fmt.Errorf("%s has the wrong type: %s", cmp.Or(wrong.Field, "it"), wrong.Value)
	}
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

func sameJSON(a, b string) bool {
	first, err := value.JSON(json.RawMessage(a))
	second, err2 := value.JSON(json.RawMessage(b))
	return err == nil && err2 == nil && first.Equal(second)
}
