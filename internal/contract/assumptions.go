package contract

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// Assumption is what this project decided where the documentation is silent.
type Assumption struct {
	// ID is unique in the contract, such as "rotate-api-key".
	ID string
	// Operations are the IDs of those that it concerns, sorted. A rule without any concerns all.
	Operations []string
	// Areas are the tags of the operations, sorted.
	Areas []string
	// Place is what carries the mark: the IDs of operations, or the JSON pointer of a component.
	Place string
	// Why says first what is assumed, as a sentence that an answer can refute, and then what is open.
	Why string
	// Rule is true if the form of a response shows nothing about it: it takes requests that are made for the purpose.
	Rule bool
}

// Assumptions returns the marks of the document and the rules of Rules that are assumed, sorted by ID.
func (d *Document) Assumptions() []Assumption { return slices.Clone(d.assumptions()) }

// finder collects assumptions from the document as JSON, in which all places look alike.
type finder struct {
	components map[string]any      // By JSON pointer.
	operations map[string][]string // The IDs of those that use a component, by its JSON pointer.
	found      []Assumption
}

func (d *Document) findAssumptions() []Assumption {
	var whole struct {
		Paths      map[string]any
		Components map[string]map[string]any
	}
	source, _ := d.spec.MarshalJSON() // What was read can be written.
	_ = json.Unmarshal(source, &whole)
	f := finder{components: map[string]any{}, operations: map[string][]string{}}
	for kind, named := range whole.Components {
		for name, component := range named {
			f.components["/components/"+kind+"/"+name] = component
		}
	}
	for _, item := range whole.Paths {
		f.spread(item, operationsIn(item))
	}
	for _, item := range whole.Paths {
		f.walk(item, "", operationsIn(item))
	}
	for place, component := range f.components {
		f.walk(component, place, f.operations[place])
	}
	for _, r := range rules {
		if r.Source == Assumed {
			f.found = append(f.found, Assumption{ID: r.ID, Operations: distinct(slices.Clone(r.Operations)), Place: strings.Join(r.Operations, ", "), Why: r.Text, Rule: true})
		}
	}
	tags := map[string]string{}
	for _, o := range d.Operations() {
		tags[o.ID] = o.Tag
	}
	for i := range f.found {
		var areas []string
		for _, id := range f.found[i].Operations {
			areas = append(areas, tags[id])
		}
		f.found[i].Areas = distinct(areas)
	}
	slices.SortFunc(f.found, func(a, b Assumption) int { return cmp.Compare(a.ID, b.ID) })
	return f.found
}

// walk collects the marks in a node.
func (f *finder) walk(node any, place string, operations []string) {
	if fields, ok := node.(map[string]any); ok {
		if id, ok := fields["operationId"].(string); ok {
			place, operations = id, []string{id}
		}
		if mark, ok := fields["x-assumption"].(map[string]any); ok {
			id, _ := mark["id"].(string)
			why, _ := mark["why"].(string)
			f.found = append(f.found, Assumption{ID: id, Operations: operations, Place: place, Why: why, Rule: mark["rule"] == true})
		}
	}
	for _, child := range children(node) {
		f.walk(child, place, operations)
	}
}

// spread notes for the components that a node refers to, and for those that they refer to, that operations use them.
func (f *finder) spread(node any, operations []string) {
	if fields, ok := node.(map[string]any); ok {
		if id, ok := fields["operationId"].(string); ok {
			operations = []string{id}
		}
		if ref, ok := fields["$ref"].(string); ok {
			place := strings.TrimPrefix(ref, "#")
			if all := distinct(slices.Concat(f.operations[place], operations)); len(all) > len(f.operations[place]) {
				f.operations[place] = all
				f.spread(f.components[place], operations)
			}
		}
	}
	for _, child := range children(node) {
		f.spread(child, operations)
	}
}

// operationsIn returns the IDs of the operations of a path.
func operationsIn(item any) []string {
	var ids []string
	for _, operation := range children(item) {
		fields, _ := operation.(map[string]any)
		if id, ok := fields["operationId"].(string); ok {
			ids = append(ids, id)
		}
	}
	return distinct(ids)
}

func children(node any) []any {
	switch node := node.(type) {
	case []any:
		return node
	case map[string]any:
		all := make([]any, 0, len(node))
		for _, child := range node {
			all = append(all, child)
		}
		return all
	}
	return nil
}

func distinct(names []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(names)))
}
