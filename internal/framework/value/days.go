package value

import (
	"strconv"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
)

// Day accepts an existing date in the format YYYY-MM-DD.
func Day() validator.String {
	return rule{
		summary: "Invalid date", must: "must be a date in the format YYYY-MM-DD, such as 2026-02-28",
		accepts: func(s string) bool { _, err := time.Parse(time.DateOnly, s); return err == nil },
		got:     strconv.Quote,
	}
}
