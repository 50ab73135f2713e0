package value

import (
	"fmt"
	"strconv"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Day accepts a day that exists, as YYYY-MM-DD.
func Day() validator.String {
	return rule{
		summary: "Invalid Date", must: "must be a date in the format YYYY-MM-DD, such as 2026-02-28",
		accepts: func(s string) bool { _, err := time.Parse(time.DateOnly, s); return err == nil },
		got:     strconv.Quote,
	}
}

// DayFrom accepts the days from first on, and what KnownDay does not know. Why completes the refusal.
func DayFrom(first, why string) validator.String {
	return rule{
		summary: "Date Too Early", must: fmt.Sprintf("must not be before %s, because %s", first, why),
		accepts: func(s string) bool { _, ok := KnownDay(types.StringValue(s)); return !ok || s >= first },
		got:     strconv.Quote,
	}
}

// KnownDay returns the day that a string says; ok is false where it is null, unknown or malformed. The years 0 and 1 are
// no days either: Terraform 1.5 validates with them in place of plantimestamp(), and once more with the real days before
// a data source is read.
func KnownDay(s types.String) (day time.Time, ok bool) {
	day, err := time.Parse(time.DateOnly, s.ValueString())
	return day, err == nil && day.Year() > 1
}
