package value

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-jsontypes/jsontypes"
)

// JSON is what the API leaves open as one string of normalized JSON: the keys of objects sorted, no blanks, numbers as they
// came. It is null where there is nothing. The error says that raw is no JSON.
func JSON(raw json.RawMessage) (jsontypes.Normalized, error) {
	if len(bytes.TrimSpace(raw)) == 0 || bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return jsontypes.NewNormalizedNull(), nil
	}
	in := json.NewDecoder(bytes.NewReader(raw))
	in.UseNumber() // As float64, a large number would come out as another one.
	var decoded any
	if err := in.Decode(&decoded); err != nil {
		return jsontypes.NewNormalizedNull(), fmt.Errorf("read what should be JSON: %w", err)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(decoded); err != nil {
		return jsontypes.NewNormalizedNull(), fmt.Errorf("normalize JSON: %w", err)
	}
	return jsontypes.NewNormalizedValue(string(bytes.TrimSpace(out.Bytes()))), nil
}
