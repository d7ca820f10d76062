; sex_never_decides: is there a pair that breaks the demand? unsat: the property holds.
(set-option :produce-models true)
(set-logic QF_LIRA)
(echo "fairdsl-41ccfaa1b85b54bc")

; the individuals: x is what both share
; sex (line 2)
;   0 = female, 1 = male
(declare-const a.sex Int)
(declare-const b.sex Int)
; age (line 3)
(declare-const x.age Int)

; their values in Applicant
(assert (<= 0 a.sex 1))
(assert (<= 0 b.sex 1))
(assert (<= 18 x.age 90))

; domain and target, of both (line 12)

; which pairs are comparable
(assert (not (= a.sex b.sex)))

; model approve, twice (line 8)
(define-fun va.0 () Real (to_real x.age))
; a, layer 1 of 1: scores
(define-fun sa.0 () Real (+ va.0 (- 30.0)))
(define-fun vb.0 () Real (to_real x.age))
; b, layer 1 of 1: scores
(define-fun sb.0 () Real (+ vb.0 (- 30.0)))

; the demand, negated
;   a: grant, b: reject
(assert (and (> sa.0 0.0) (>= (- sb.0) 0.0)))
(check-sat)
(get-value (a.sex b.sex x.age))
