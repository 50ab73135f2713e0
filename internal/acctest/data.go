package acctest

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

// ReadData validates and reads a data source, as a plan does. It returns the attributes and an outcome whose Action is
// ActionNone.
func (p *Process) ReadData(typeName string, config Values) (map[string]tftypes.Value, Outcome) {
	p.t.Helper()
	ctx := context.Background()
	out := Outcome{Action: ActionNone}
	typ, configured := p.configured(p.offered.DataSourceSchemas[typeName], typeName, config)
	validated, err := p.server.ValidateDataResourceConfig(ctx, &tfprotov6.ValidateDataResourceConfigRequest{TypeName: typeName, Config: configured})
	if err != nil {
		p.t.Fatal(err)
	}
	p.collect(&out, validated.Diagnostics, nil)
	if len(out.Errors) > 0 {
		return nil, out
	}
	resp, err := p.server.ReadDataSource(ctx, &tfprotov6.ReadDataSourceRequest{TypeName: typeName, Config: configured})
	if err != nil {
		p.t.Fatal(err)
	}
	p.collect(&out, resp.Diagnostics, nil)
	if len(out.Errors) > 0 {
		return nil, out
	}
	return as[map[string]tftypes.Value](p.t, p.value(typ, resp.State)), out
}

// configured returns a type and a configuration of it.
func (p *Process) configured(schema *tfprotov6.Schema, typeName string, config Values) (tftypes.Type, *tfprotov6.DynamicValue) {
	p.t.Helper()
	if schema == nil {
		p.t.Fatalf("there is no %s of this kind", typeName)
	}
	typ := schema.ValueType()
	return typ, dynamic(p.t, typ, valueOf(p.t, typ, config))
}

// MustRead returns the attributes of a data source that is read in a new process with these settings, without warnings.
func (e *Env) MustRead(t testing.TB, settings Values, typeName string, config Values) map[string]any {
	t.Helper()
	read, out := NewProcess(t, e, settings).ReadData(typeName, config)
	if len(out.Errors)+len(out.Warnings) > 0 {
		t.Fatalf("%v: %s", config, out)
	}
	return Plainly(t, read)
}

// MustNotRead expects one error of a data source, as MustFail does.
func (e *Env) MustNotRead(t testing.TB, settings Values, typeName string, config Values, attribute string, parts ...string) {
	t.Helper()
	_, out := NewProcess(t, e, settings).ReadData(typeName, config)
	out.MustFail(t, attribute, parts...)
}

// MustFail fails the test unless the outcome is exactly one error that contains all parts. The error must be on the
// attribute, such as "repos[0].url", or on none if attribute is empty.
func (o Outcome) MustFail(t testing.TB, attribute string, parts ...string) {
	t.Helper()
	if len(o.Errors) != 1 {
		t.Errorf("%d errors, want one: %s", len(o.Errors), o.Text())
		return
	}
	if at := attributePath(o.Errors[0].Attribute); at != attribute {
		t.Errorf("the error is at %q, want %q: %s", at, attribute, o.Text())
	}
	check.Says(t, o.Text(), parts...)
}

// MustInclude fails the test unless an error on the attribute contains the text.
func (o Outcome) MustInclude(t testing.TB, attribute, text string) {
	t.Helper()
	if !slices.ContainsFunc(o.Errors, func(d *tfprotov6.Diagnostic) bool {
		return attributePath(d.Attribute) == attribute && strings.Contains(d.Summary+": "+d.Detail, text)
	}) {
		t.Errorf("no error at %s says %q: %s", attribute, text, o)
	}
}

// Refuses reports whether an error on the attribute contains the text.
func (o Outcome) Refuses(attribute *regexp.Regexp, text string) bool {
	return slices.ContainsFunc(o.Errors, func(d *tfprotov6.Diagnostic) bool {
		return attribute.MatchString(attributePath(d.Attribute)) && strings.Contains(d.Summary+": "+d.Detail, text)
	})
}

func attributePath(path *tftypes.AttributePath) string {
	var text strings.Builder
	for _, step := range path.Steps() {
		switch step := step.(type) {
		case tftypes.AttributeName:
			text.WriteString("." + string(step))
		case tftypes.ElementKeyInt:
			fmt.Fprintf(&text, "[%d]", int64(step))
		case tftypes.ElementKeyString:
			fmt.Fprintf(&text, "[%q]", string(step))
		default:
			text.WriteString("[…]") // An element of a set.
		}
	}
	return strings.TrimPrefix(text.String(), ".")
}
