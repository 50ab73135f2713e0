package value

import (
	"strconv"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Day accepts an existing date in the format YYYY-MM-DD.
func Day() validator.String {
	return rule{
		summary: "Invalid Date", must: "must be a date in the format YYYY-MM-DD, such as 2026-02-28",
		accepts: func(s string) bool { _, err := time.Parse(time.DateOnly, s); return err == nil },
		got:     strconv.Quote,
	}
}

// DayFrom rejects days before first. It accepts values that KnownDay cannot read. The hint is a sentence.
func DayFrom(first, hint string) validator.String {
	return rule{
		summary: "Date Too Early", must: "must not be before " + first, hint: hint,
		accepts: func(s string) bool { _, ok := KnownDay(types.StringValue(s)); return !ok || s >= first },
		got:     strconv.Quote,
	}
}

// KnownDay returns the date in a string. It returns false if the string is null, unknown, or malformed. It also ignores the
// years 0 and 1: Terraform 1.5 uses them for plantimestamp() during validation, and validates again with the real dates
// before it reads a data source.
func KnownDay(s types.String) (day time.Time, ok bool) {
	day, err := time.Parse(time.DateOnly, s.ValueString())
	return day, err == nil && day.Year() > 1
}
