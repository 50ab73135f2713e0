package results

import (
	"context"
	"testing"

	dsschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

type rowsModel struct {
	Things Rows `tfsdk:"things"`
}

// rowsState returns an empty state of a data source with rows.
func rowsState() tfsdk.State {
	s := dsschema.Schema{Attributes: map[string]dsschema.Attribute{"things": record.DataSourceRows("The things.")}}
	return tfsdk.State{Schema: s, Raw: tftypes.NewValue(s.Type().TerraformType(context.Background()), nil)}
}

// Rows have the values of a list.
func TestRecord_Rows(t *testing.T) {
	t.Parallel()
	for name, things := range map[string][]thing{"some": {*full(), {}}, "none": {}} {
		rows := RowsOf(record, things)
		list, diags := rows.ToListValue(t.Context())
		if want := ListOf(record, things); diags.HasError() || !list.Equal(want) {
			t.Errorf("%s: %s, want %s (%v)", name, list, want, diags)
		}
		again, diags := record.rowsType().ValueFromList(t.Context(), list)
		if diags.HasError() || !again.Equal(rows) || again.Equal(RowsOf(record, []thing{{id: "2"}})) || again.Equal(list) {
			t.Errorf("%s: from the list: %s (%v)", name, again, diags)
		}
		if rows.IsNull() || rows.IsUnknown() || rows.String() == "" || !rows.Type(t.Context()).Equal(record.rowsType()) {
			t.Errorf("%s: %s of %s", name, rows, rows.Type(t.Context()))
		}
	}
	if none := record.rowsType().ValueType(t.Context()); !none.IsNull() || none.IsUnknown() {
		t.Errorf("the type's value is %s", none)
	}
	if !RowsOf(record, nil).Equal(RowsOf(record, []thing{})) {
		t.Error("nil is not an empty list")
	}
	if record.rowsType().Equal(toolRecord.rowsType()) || record.rowsType().Equal(ListOf(record, nil).Type(t.Context())) {
		t.Error("another type is equal")
	}
}

func TestRows_state(t *testing.T) {
	t.Parallel()
	state, want := rowsState(), RowsOf(record, []thing{*full()})
	if diags := state.Set(t.Context(), &rowsModel{want}); diags.HasError() {
		t.Fatal(diags)
	}
	var m rowsModel
	if diags := state.Get(t.Context(), &m); diags.HasError() || !m.Things.Equal(want) {
		t.Errorf("stored %s, want %s (%v)", m.Things, want, diags)
	}
}

// The framework does not convert the rows one by one: ten thousand take no more allocations than one.
func TestRows_allocations(t *testing.T) { //nolint:paralleltest // Allocations are counted for the whole process.
	store := func(n int) float64 {
		m, state := rowsModel{RowsOf(record, make([]thing, n))}, rowsState()
		return testing.AllocsPerRun(10, func() {
			if diags := state.Set(t.Context(), &m); diags.HasError() {
				t.Fatal(diags)
			}
		})
	}
	if one, many := store(1), store(10_000); many > one+100 {
		t.Errorf("one row takes %v allocations, 10,000 take %v", one, many)
	}
}
