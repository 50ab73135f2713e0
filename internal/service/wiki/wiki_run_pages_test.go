package wiki

import (
	"fmt"
	"strings"
	"testing"
)

func TestReadPages_paths(t *testing.T) {
	t.Parallel()
	for page, isRead := range map[string]bool{
		"index.md": true, "a/b c/ä.md": true, "a..b/...": true, "..md": true, "./a": true,
		"": false, "/": false, "/a.md": false, `\a.md`: false, "..": false, "../a.md": false, "a/../b.md": false, "a/..": false, `a\..\b`: false,
	} {
		_, err := readPages(fmt.Sprintf(`[{"path":"first.md","title":"T","content":"c"},{"path":%q,"title":"T","content":"c"}]`, page))
		if (err == nil) != isRead || err != nil && !strings.HasPrefix(err.Error(), fmt.Sprintf("pages[1].path is %q, ", page)) {
			t.Errorf("%s: %v", page, err)
		}
	}
}
