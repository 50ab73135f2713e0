package value

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
)

var uuidPattern = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// UUID accepts a UUID in its usual form.
func UUID() validator.String {
	return stringvalidator.RegexMatches(uuidPattern, "must be a UUID, such as 1b4e28ba-2fa1-41d2-883f-0016d3cca427")
}

// DurationAtLeast accepts durations in the syntax of ParseDuration that are not shorter than least.
func DurationAtLeast(least time.Duration) validator.String { return durationValidator{least} }

type durationValidator struct{ least time.Duration }

func (v durationValidator) Description(context.Context) string {
	return fmt.Sprintf("must be a duration of at least %s, such as \"90m\", \"720h\", \"30d\" or \"2w\"", v.least)
}

func (v durationValidator) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (v durationValidator) ValidateString(ctx context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if !IsSet(req.ConfigValue) {
		return
	}
	if d, err := ParseDuration(req.ConfigValue.ValueString()); err != nil || d < v.least {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid Duration", fmt.Sprintf("%s %s, got: %q.", req.Path, v.Description(ctx), req.ConfigValue.ValueString()))
	}
}

// URI accepts an absolute URI.
func URI() validator.String { return uriValidator{} }

type uriValidator struct{}

func (uriValidator) Description(context.Context) string {
	return "must be an absolute URI, such as https://git.example/acme/app"
}

func (v uriValidator) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (v uriValidator) ValidateString(ctx context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if !IsSet(req.ConfigValue) {
		return
	}
	if u, err := url.Parse(req.ConfigValue.ValueString()); err != nil || !u.IsAbs() || (u.Host == "" && u.Opaque == "") {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid URI", fmt.Sprintf("%s %s, got: %q.", req.Path, v.Description(ctx), req.ConfigValue.ValueString()))
	}
}
