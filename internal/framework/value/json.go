package value

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-jsontypes/jsontypes"
)

// JSON returns normalized JSON: sorted keys, no whitespace, and numbers as the API wrote them. It returns null for empty
// input, and an error if raw is not valid JSON.
func JSON(raw json.RawMessage) (jsontypes.Normalized, error) {
	if len(bytes.TrimSpace(raw)) == 0 || bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return jsontypes.NewNormalizedNull(), nil
	}
	in := json.NewDecoder(bytes.NewReader(raw))
	in.UseNumber() // A float64 would change large numbers.
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
