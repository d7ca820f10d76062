; p: is there a pair that breaks the demand? unsat: the property holds.
(set-option :produce-models true)
(set-logic QF_LIRA)
(echo "fairdsl-7ed044575b5b9720")

; the individuals: x is what both share
; age
(declare-const a.age Int)
(declare-const b.age Int)
; job
;   1 = v1, 2 = v2, 5 = v5
(declare-const a.job Int)
(declare-const b.job Int)
; income
(declare-const x.income Real)
; sex
(declare-const a.sex Int)
(declare-const b.sex Int)

; their values in People
(assert (<= (- 3) a.age 80))
(assert (<= (- 3) b.age 80))
(assert (or (<= 1 a.job 2) (= a.job 5)))
(assert (or (<= 1 b.job 2) (= b.job 5)))
(assert (and (<= 0.0 x.income) (<= x.income (/ 200001.0 2.0))))
(assert (<= 0 a.sex 1))
(assert (<= 0 b.sex 1))

; domain and target, of both
(assert (or (= a.job 1) (= a.job 5)))
(assert (or (= b.job 1) (= b.job 5)))
(assert (> (+ (* 2.0 (to_real a.age)) x.income) (/ 1.0 3.0)))
(assert (> (+ (* 2.0 (to_real b.age)) x.income) (/ 1.0 3.0)))

; which pairs are comparable
(assert (not (= a.sex b.sex)))
(assert (<= (- (/ 3.0 2.0)) (- (to_real a.age) (to_real b.age)) (/ 3.0 2.0)))
(assert (<= (- a.age) 5))

; model m, twice
(define-fun va.0 () Real (to_real a.age))
(define-fun va.1 () Real (to_real a.job))
(define-fun va.2 () Real x.income)
(define-fun va.3 () Real (to_real a.sex))
; a, layer 1 of 2: units
(define-fun za.1.0 () Real (+ (* (/ 1.0 2.0) va.0) (- va.1) (* 3.0 va.3) (- (/ 1.0 4.0))))
(define-fun ha.1.0 () Real (ite (>= za.1.0 0.0) za.1.0 0.0))
(define-fun za.1.1 () Real (+ va.0 (* (/ 1.0 10.0) va.2) 2.0))
(define-fun ha.1.1 () Real (ite (>= za.1.1 0.0) za.1.1 0.0))
; a, layer 2 of 2: scores
(define-fun sa.0 () Real (+ ha.1.0 (- ha.1.1)))
(define-fun vb.0 () Real (to_real b.age))
(define-fun vb.1 () Real (to_real b.job))
(define-fun vb.2 () Real x.income)
(define-fun vb.3 () Real (to_real b.sex))
; b, layer 1 of 2: units
(define-fun zb.1.0 () Real (+ (* (/ 1.0 2.0) vb.0) (- vb.1) (* 3.0 vb.3) (- (/ 1.0 4.0))))
(define-fun hb.1.0 () Real (ite (>= zb.1.0 0.0) zb.1.0 0.0))
(define-fun zb.1.1 () Real (+ vb.0 (* (/ 1.0 10.0) vb.2) 2.0))
(define-fun hb.1.1 () Real (ite (>= zb.1.1 0.0) zb.1.1 0.0))
; b, layer 2 of 2: scores
(define-fun sb.0 () Real (+ hb.1.0 (- hb.1.1)))

; the demand, negated
;   a: no, b: yes
;   a: yes, b: no
(assert (or (and (> (- sa.0) 0.0) (>= sb.0 0.0)) (and (>= sa.0 0.0) (> (- sb.0) 0.0))))
(check-sat)
(get-value (a.age b.age a.job b.job x.income a.sex b.sex))
