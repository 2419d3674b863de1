// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"sync"
)

// savina-facloc, as workloads/actors/savina_quadrants.hpp describes it. A quadrant is a goroutine
// with a mailbox without a bound, since quadrants send up and down.

// mailboxOf is a queue without a bound.
type mailboxOf[T any] struct {
	mutex sync.Mutex
	some  *sync.Cond
	items []T
}

func newMailbox[T any]() *mailboxOf[T] {
	m := &mailboxOf[T]{}
	m.some = sync.NewCond(&m.mutex)
	return m
}

func (m *mailboxOf[T]) send(item T) {
	m.mutex.Lock()
	m.items = append(m.items, item)
	m.mutex.Unlock()
	m.some.Signal()
}

func (m *mailboxOf[T]) receive() T {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for len(m.items) == 0 {
		m.some.Wait()
	}
	item := m.items[0]
	m.items = m.items[1:]
	return item
}

const (
	facSide  = 500.0
	facLimit = 2 * math.Sqrt2 * facSide
	facSeed  = 123_456 % 65_536
	noPart   = 4
)

type facPoint struct{ x, y float64 }

func (p facPoint) distance(q facPoint) float64 { return math.Hypot(p.x-q.x, p.y-q.y) }

func facCustomer(numbers *savinaRandom) facPoint {
	x := float64(numbers.next()) / 65536 * facSide
	return facPoint{x, float64(numbers.next()) / 65536 * facSide}
}

type facKind int

const (
	newCustomer facKind = iota
	facilityOpened
	askCount
	countOf
	facEnd
)

type facMessage struct {
	kind      facKind
	at        facPoint
	part      int
	customers int64
}

type facQuadrant struct {
	low, high  facPoint
	facilities []facPoint
	customers  []facPoint
	cost       float64
	inbox      *mailboxOf[facMessage]
	above      *mailboxOf[facMessage]
	part       int
	parts      []*facQuadrant
}

func (q *facQuadrant) centre() facPoint {
	return facPoint{(q.low.x + q.high.x) / 2, (q.low.y + q.high.y) / 2}
}

// add returns true if the quadrant must be split.
func (q *facQuadrant) add(at facPoint) bool {
	nearest := q.centre().distance(at)
	for _, one := range q.facilities {
		nearest = math.Min(nearest, one.distance(at))
	}
	q.customers = append(q.customers, at)
	q.cost += nearest
	return q.cost > facLimit
}

func (q *facQuadrant) partOf(at facPoint) int {
	part := 0
	if at.x >= q.centre().x {
		part = 1
	}
	if at.y >= q.centre().y {
		part += 2
	}
	return part
}

func (q *facQuadrant) split() {
	c := q.centre()
	q.above.send(facMessage{kind: facilityOpened, at: c, part: q.part})
	q.facilities = append(q.facilities, c)
	lows := []facPoint{q.low, {c.x, q.low.y}, {q.low.x, c.y}, c}
	highs := []facPoint{c, {q.high.x, c.y}, {c.x, q.high.y}, q.high}
	for i := range lows {
		q.parts = append(q.parts, &facQuadrant{
			low: lows[i], high: highs[i], facilities: append([]facPoint(nil), q.facilities...),
			inbox: newMailbox[facMessage](), above: q.inbox, part: i})
	}
	for _, one := range q.customers {
		q.parts[q.partOf(one)].add(one)
	}
	q.customers = nil
	for _, part := range q.parts {
		go part.run()
	}
}

// excerpt savina-facloc
func (q *facQuadrant) run() {
	customers, counted := int64(0), 0
	for {
		m := q.inbox.receive()
		switch m.kind {
		case newCustomer:
			if q.parts != nil {
				q.parts[q.partOf(m.at)].inbox.send(m)
			} else if q.add(m.at) {
				q.split()
			}
		case facilityOpened:
			q.facilities = append(q.facilities, m.at)
			if m.part == noPart {
				for _, part := range q.parts {
					part.inbox.send(m)
				}
				continue
			}
			q.above.send(facMessage{kind: facilityOpened, at: m.at, part: q.part})
			sibling := q.parts[3-m.part]
			sibling.inbox.send(facMessage{kind: facilityOpened, at: m.at, part: noPart})
		case askCount, facEnd:
			for _, part := range q.parts {
				part.inbox.send(m)
			}
			if m.kind == facEnd {
				return
			}
			if q.parts == nil {
				q.above.send(facMessage{kind: countOf, customers: int64(len(q.customers))})
			}
		case countOf:
			customers += m.customers
			if counted++; counted == len(q.parts) {
				q.above.send(facMessage{kind: countOf, customers: customers})
			}
		}
	}
}

// excerpt end

func facilities(n int64) int64 {
	result := newMailbox[facMessage]()
	root := &facQuadrant{high: facPoint{facSide, facSide}, inbox: newMailbox[facMessage](),
		above: result, part: noPart}
	go root.run()
	numbers := savinaRandom(facSeed)
	for i := int64(0); i < n; i++ {
		root.inbox.send(facMessage{kind: newCustomer, at: facCustomer(&numbers)})
	}
	root.inbox.send(facMessage{kind: askCount})
	for {
		if m := result.receive(); m.kind == countOf {
			root.inbox.send(facMessage{kind: facEnd})
			return m.customers
		}
	}
}
