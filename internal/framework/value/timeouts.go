package value

import (
	"context"
	"fmt"
	"time"

	actionschema "github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

const timeoutsText = "Maximum times, as durations such as `90s`, `30m`, or `1h30m`. The largest unit is the hour: two days are `48h`."

// Timeouts describes a resource's timeouts block, and makes it reject durations of zero or less.
func Timeouts(block schema.Block) schema.Block {
	b, ok := block.(schema.SingleNestedBlock)
	if !ok {
		return block
	}
	b.MarkdownDescription, b.Validators = timeoutsText, append(b.Validators, positiveDurations{})
	return b
}

// ActionTimeouts does the same for an action's.
func ActionTimeouts(block actionschema.Block) actionschema.Block {
	b, ok := block.(actionschema.SingleNestedBlock)
	if !ok {
		return block
	}
	b.MarkdownDescription, b.Validators = timeoutsText, append(b.Validators, positiveDurations{})
	return b
}

// positiveDurations rejects durations of zero or less. Another validator rejects strings that are not durations.
type positiveDurations struct{}

func (positiveDurations) Description(context.Context) string { return "must be longer than 0s" }

func (v positiveDurations) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (v positiveDurations) ValidateObject(ctx context.Context, req validator.ObjectRequest, resp *validator.ObjectResponse) {
	for name, attribute := range req.ConfigValue.Attributes() {
		given, ok := attribute.(types.String)
		if !ok || !IsSet(given) {
			continue
		}
		if d, err := time.ParseDuration(given.ValueString()); err == nil && d <= 0 {
			at := req.Path.AtName(name)
			resp.Diagnostics.AddAttributeError(at, "Invalid timeout", fmt.Sprintf("%s %s, not %q.", at, v.Description(ctx), given.ValueString()))
		}
	}
}
