package evidence

// Object is a JSON object of an answer. It is read with few demands, so that a deviation elsewhere in the answer stops nothing: a
// method returns the zero value if a field is absent, null, or something else.
type Object map[string]any

// Text returns the text of a field.
func (o Object) Text(field string) string { return valueOf[string](o, field) }

// Number returns the number of a field.
func (o Object) Number(field string) float64 { return valueOf[float64](o, field) }

// Truth returns the boolean of a field.
func (o Object) Truth(field string) bool { return valueOf[bool](o, field) }

// Object returns the object of a field.
func (o Object) Object(field string) Object { return valueOf[map[string]any](o, field) }

// List returns the objects of a field's list.
func (o Object) List(field string) []Object { return objectsOf(valueOf[[]any](o, field)) }

// Has reports whether a field has a value.
func (o Object) Has(field string) bool { return o[field] != nil }

func valueOf[T any](o Object, field string) (v T) {
	v, _ = o[field].(T)
	return v
}

func objectsOf(list []any) []Object {
	var all []Object
	for _, element := range list {
		if element, ok := element.(map[string]any); ok {
			all = append(all, element)
		}
	}
	return all
}

// RecordOf returns the object of an answer, also if it stands in a field that names its kind.
func RecordOf(body any) Object {
	o, _ := body.(map[string]any)
	if _, hasID := o["id"]; !hasID && len(o) == 1 {
		for _, inner := range o {
			if inner, ok := inner.(map[string]any); ok {
				return inner
			}
		}
	}
	return o
}

// RowsOf returns the objects of a listing, which are in a field or in a bare list.
func RowsOf(body any, field string) []Object {
	if list, ok := body.([]any); ok {
		return objectsOf(list)
	}
	return RecordOf(body).List(field)
}
