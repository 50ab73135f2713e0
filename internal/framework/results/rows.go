package results

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	dsschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Rows is the list of records in a data source. It holds one value of the protocol: the framework would convert a types.List
// several times, attribute by attribute. Its zero value cannot be used: set it with Fields.Rows or RowsOf.
type Rows struct {
	typ rowsType
	raw *tftypes.Value
}

// Rows returns the rows of records. Nil is an empty list.
func (r Fields[R]) Rows(records []R) Rows {
	ctx := context.Background() // The conversions of values do not use it.
	typ := r.rowsType()
	rowType := typ.ElementType().TerraformType(ctx)
	rows := make([]tftypes.Value, len(records))
	for i, record := range records {
		row := make(map[string]tftypes.Value, len(r))
		for name, field := range r {
			row[name], _ = field.Value(record).ToTerraformValue(ctx) // It fails only for values that do not have their type.
		}
		rows[i] = tftypes.NewValue(rowType, row)
	}
	raw := tftypes.NewValue(tftypes.List{ElementType: rowType}, rows)
	return Rows{typ, &raw}
}

// RowsOf returns the rows of records. Nil is an empty list.
func RowsOf[T any](of Fields[*T], records []T) Rows {
	pointers := make([]*T, len(records))
	for i := range records {
		pointers[i] = &records[i]
	}
	return of.Rows(pointers)
}

// DataSourceRows returns a data source's attribute for the rows of records.
func (r Fields[R]) DataSourceRows(description string) dsschema.Attribute {
	return dsschema.ListNestedAttribute{
		Computed:            true,
		MarkdownDescription: description,
		CustomType:          r.rowsType(),
		NestedObject:        dsschema.NestedAttributeObject{Attributes: r.DataSource()},
	}
}

func (r Fields[R]) rowsType() rowsType { return rowsType{types.ListType{ElemType: r.ObjectType()}} }

// rowsType is the type of Rows.
type rowsType struct{ basetypes.ListType }

func (t rowsType) Equal(other attr.Type) bool {
	o, ok := other.(rowsType)
	return ok && t.ListType.Equal(o.ListType)
}

func (t rowsType) ValueType(ctx context.Context) attr.Value {
	null := tftypes.NewValue(t.TerraformType(ctx), nil)
	return Rows{t, &null}
}

func (t rowsType) ValueFromTerraform(_ context.Context, raw tftypes.Value) (attr.Value, error) {
	return Rows{t, &raw}, nil
}

func (t rowsType) ValueFromList(ctx context.Context, list types.List) (basetypes.ListValuable, diag.Diagnostics) {
	raw, err := list.ToTerraformValue(ctx)
	return Rows{t, &raw}, conversionError(err)
}

// ToListValue converts the rows, which the framework does only where a configuration sets them.
func (r Rows) ToListValue(ctx context.Context) (types.List, diag.Diagnostics) {
	converted, err := r.typ.ListType.ValueFromTerraform(ctx, *r.raw)
	list, _ := converted.(types.List)
	return list, conversionError(err)
}

func conversionError(err error) diag.Diagnostics {
	if err == nil {
		return nil
	}
	return diag.Diagnostics{diag.NewErrorDiagnostic("Rows Cannot Be Converted", err.Error())}
}

func (r Rows) Type(context.Context) attr.Type { return r.typ }

func (r Rows) ToTerraformValue(context.Context) (tftypes.Value, error) { return *r.raw, nil }

// Equal compares the pointers first, because the framework also compares rows with themselves.
func (r Rows) Equal(other attr.Value) bool {
	o, ok := other.(Rows)
	return ok && (r.raw == o.raw || r.raw.Equal(*o.raw))
}

func (r Rows) IsNull() bool { return r.raw.IsNull() }

func (r Rows) IsUnknown() bool { return !r.raw.IsKnown() }

func (r Rows) String() string { return r.raw.String() }
