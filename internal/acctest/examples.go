package acctest

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
)

// Example returns the text of a file below examples/.
func Example(t testing.TB, path string) string {
	t.Helper()
	_, file, _, _ := runtime.Caller(0)
	text, err := os.ReadFile(filepath.Join(filepath.Dir(file), "..", "..", "examples", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// RunExample applies an example as it stands in the documentation, demands an empty plan after it, and destroys it.
// Replacements are pairs of old and new text, for what an example can only show, such as an ID.
func RunExample(t *testing.T, e *Env, path string, replacements ...string) {
	t.Helper()
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		Steps: []resource.TestStep{{
			Config:           e.Config(strings.NewReplacer(replacements...).Replace(Example(t, path))),
			ConfigPlanChecks: ThenEmpty,
		}},
	})
}
